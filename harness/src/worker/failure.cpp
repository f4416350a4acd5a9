#include "worker/failure.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <new>

#include "channel/reason.hpp"
#include "labrig/error.hpp"

namespace labrig::worker {

using channel::shortened;

namespace {

std::string name_of_current_type() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "an unknown type";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type->name(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? name.get() : type->name();
}

}  // namespace

Failure describe_current_exception() {
  try {
    throw;
  } catch (const Error& error) {
    return {channel::plain_code(error.code()), shortened(error.what()), shortened(error.why()), shortened(error.fix())};
  } catch (const std::bad_alloc&) {
    return {"host-out-of-memory", "the host had no memory left for the submission (std::bad_alloc)"};
  } catch (const std::exception& error) {
    return {"exception", shortened(fmt::format("the submission threw {}: {}", name_of_current_type(), error.what()))};
  } catch (...) {
    return {"exception", fmt::format("the submission threw an exception of type {}", name_of_current_type())};
  }
}

}  // namespace labrig::worker
