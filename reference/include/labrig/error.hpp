// The one error type of labrig, and Result for failures that are expected (a file that does not parse, a plugin that
// does not load). An error says what happened, why, and how to fix it. Where PyTorch has a text for the same mistake,
// `what` is PyTorch's text, so that it can be searched for.
#pragma once

#include <exception>
#include <source_location>
#include <string>
#include <utility>
#include <variant>

#include "labrig/export.hpp"

namespace labrig {

class LABRIG_API Error : public std::exception {
 public:
  // `code` is the stable kebab-case name under which docs/errors explains the error.
  Error(std::string code, std::string what, std::string why, std::string fix,
        std::source_location where = std::source_location::current());

  const std::string& code() const noexcept { return code_; }
  // The first sentence alone.
  const char* what() const noexcept override { return what_.c_str(); }
  const std::string& why() const noexcept { return why_; }
  const std::string& fix() const noexcept { return fix_; }
  const std::source_location& where() const noexcept { return where_; }

  // The three lines that a user reads: "error: …\n  why: …\n  fix: …" (no newline at the end).
  std::string message() const;

 private:
  std::string code_, what_, why_, fix_;
  std::source_location where_;
};

// A value, or the error that explains why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  const Error& error() const { return std::get<1>(state_); }
  // The value; throws the error when there is none.
  T& value() & {
    if (!ok()) throw error();
    return std::get<0>(state_);
  }
  const T& value() const& {
    if (!ok()) throw error();
    return std::get<0>(state_);
  }
  T value() && {  // by value, so that `for (x : f().value().list)` does not outlive it
    if (!ok()) throw error();
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  T* operator->() { return &value(); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace labrig
