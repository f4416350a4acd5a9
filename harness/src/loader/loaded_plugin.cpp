#include "loader/loaded_plugin.hpp"

#include <fmt/format.h>

#include <boost/dll/runtime_symbol_info.hpp>
#include <boost/dll/shared_library.hpp>
#include <cstring>
#include <utility>
#include <vector>

#include "labrig/dtype.hpp"
#include "labrig/plugin.hpp"

namespace labrig::loader {

namespace {

constexpr std::size_t kLongestText = 500;

// A text that the plugin gave, cut and made printable.
std::string shown(const char* text) {
  std::string result;
  for (; text && *text && result.size() < kLongestText; ++text)
    result += static_cast<unsigned char>(*text) < 0x20 ? ' ' : *text;
  return result;
}

// What the dynamic linker said. Boost wraps it, and adds the name of an errno that has nothing to do with it.
std::string linker_message(const std::string& text) {
  constexpr std::string_view kBefore = "(dlerror system message: ";
  const std::size_t from = text.find(kBefore), to = text.rfind(')');
  if (from == std::string::npos || to == std::string::npos) return text;
  const std::size_t start = from + kBefore.size();
  return to > start ? text.substr(start, to - start) : text;
}

Error cannot_load(const std::string& message) {
  constexpr std::string_view kUndefined = "undefined symbol: ";
  if (const std::size_t at = message.find(kUndefined); at != std::string::npos) {
    std::string symbol = message.substr(at + kUndefined.size());
    symbol.resize(std::min(symbol.size(), symbol.find_first_of(", ")));
    return Error(
        "plugin-load", fmt::format("the plugin uses `{}`, which nothing defines", demangled(symbol)),
        "a function or variable was declared and used, but its definition is in no source file of the plugin and in "
        "no library it links to",
        "define it, or add the source file that does; labrig_add_submission() makes the linker find this earlier");
  }
  return Error(
      "plugin-load", "the plugin cannot be loaded", fmt::format("the dynamic linker says: {}", message),
      "build it with labrig_add_submission(), which links what a plugin may use; `labrig plugin doctor` shows what it "
      "needs");
}

// A library that stays mapped, on purpose: see the class comment.
boost::dll::shared_library& map_library(const std::filesystem::path& path) {
  namespace dll = boost::dll;
  static std::vector<dll::shared_library*> kept;
  kept.push_back(new dll::shared_library(path, dll::load_mode::rtld_now | dll::load_mode::rtld_local));
  return *kept.back();
}

// Maps those of labrig's libraries that the plugin needs, from beside labrig-core: a plugin need not know where labrig
// lies, and a library that no plugin needs is not mapped.
void map_own_libraries(const std::filesystem::path& plugin) {
  const std::filesystem::path folder = boost::dll::symbol_location(promote_types).parent_path();
  const ElfFile file = read_elf(plugin).value();
  for (const std::string& name : file.needed)
    if (name.starts_with("liblabrig-") && std::filesystem::exists(folder / name)) map_library(folder / name);
}

// Runs a function of the plugin; what it throws becomes the Error of this rung.
template <class Function>
auto guarded(const char* code, const char* what, const char* fix, Function&& function) {
  try {
    return function();
  } catch (const Error& error) {
    throw Error(code, what, fmt::format("it threw labrig::Error: {} ({})", error.what(), error.why()), fix);
  } catch (const std::exception& error) {
    throw Error(code, what, fmt::format("it threw an exception: {}", shown(error.what())), fix);
  } catch (...) {
    throw Error(code, what, "it threw something that is not a std::exception", fix);
  }
}

}  // namespace

LoadedPlugin::LoadedPlugin(const std::filesystem::path& path, const Expectation& expectation,
                           const LadderObserver& observer) {
  const auto rung = [&](const char* name, auto&& step) {
    if (observer.begun) observer.begun(name);
    const std::string detail = step();
    if (observer.reached) observer.reached(name, detail);
  };
  rung("load", [&] {
    load(path);
    return std::string("mapped; its constructors have run");
  });
  rung("magic", [&] { return check_struct(expectation); });
  rung("init", [&] { return init(); });
  rung("describe", [&] { return describe(); });
  rung("create", [&] { return create(); });
}

LoadedPlugin::~LoadedPlugin() { destroy(); }

void LoadedPlugin::destroy() {
  if (void* object = std::exchange(object_, nullptr); object && entry_->destroy) entry_->destroy(object);
}

void LoadedPlugin::load(const std::filesystem::path& path) {
  try {
    map_own_libraries(path);
    entry_ = &map_library(std::filesystem::absolute(path)).get<const labrig_plugin_v1>(LABRIG_ENTRY_SYMBOL);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& failure) {
    throw cannot_load(linker_message(failure.what()));
  }
}

std::string LoadedPlugin::check_struct(const Expectation& expectation) const {
  const auto refuse = [](std::string why) {
    return Error(
        "plugin-magic", "the plugin's entry is not what its manifest promises", std::move(why),
        "let LABRIG_SUBMISSION(YourClass) or LABRIG_LAB(YourLab) write the entry, and build all sources of the plugin "
        "again");
  };
  const labrig_plugin_v1& entry = *entry_;
  if (std::memcmp(entry.magic, LABRIG_MAGIC, sizeof entry.magic) != 0)
    throw refuse("`" LABRIG_ENTRY_SYMBOL "` does not begin with labrig's eight magic bytes");
  if (entry.abi_major != LABRIG_ABI_MAJOR || entry.abi_minor > LABRIG_ABI_MINOR)
    throw refuse(fmt::format("it speaks version {}.{} of the plugin contract, this labrig {}.{}", entry.abi_major,
                             entry.abi_minor, LABRIG_ABI_MAJOR, LABRIG_ABI_MINOR));
  if (expectation.kind && entry.kind != static_cast<std::uint32_t>(*expectation.kind))
    throw refuse(fmt::format("its kind is {}, not {}", entry.kind, static_cast<int>(*expectation.kind)));
  if (!entry.lab_id || !entry.build_tag || !entry.create)
    throw refuse("it has no lab id, no build tag, or no create()");
  if (!expectation.lab_id.empty() && entry.lab_id != expectation.lab_id)
    throw refuse(fmt::format("it is for the lab `{}`, not `{}`", shown(entry.lab_id), expectation.lab_id));
  if (entry.build_tag != plugin::kBuildTag)
    throw refuse(fmt::format("its build tag is `{}`, labrig's is `{}`", shown(entry.build_tag), plugin::kBuildTag));
  return fmt::format("contract {}.{}, lab `{}`", entry.abi_major, entry.abi_minor, entry.lab_id);
}

std::string LoadedPlugin::init() const {
  constexpr const char* kWhat = "the plugin's init() failed";
  constexpr const char* kFix = "look at what init() needs, and return 0 when the plugin is ready";
  if (!entry_->init) return "it has no init()";
  const int code = guarded("plugin-init", kWhat, kFix, entry_->init);
  if (code == 0) return "returned 0";
  const std::string reason = entry_->describe ? shown(entry_->describe()) : std::string();
  throw Error("plugin-init", kWhat,
              fmt::format("it returned {}{}", code, reason.empty() ? "" : "; the plugin says: " + reason), kFix);
}

std::string LoadedPlugin::describe() {
  constexpr const char* kWhat = "the plugin's describe() failed";
  constexpr const char* kFix = "return one line of text that lives as long as the plugin, or leave describe out";
  if (!entry_->describe) return "it has no describe()";
  const char* text = guarded("plugin-describe", kWhat, kFix, entry_->describe);
  if (!text) throw Error("plugin-describe", kWhat, "it returned a null pointer", kFix);
  description_ = shown(text);
  return description_;
}

std::string LoadedPlugin::create() {
  constexpr const char* kWhat = "the plugin did not make its object";
  constexpr const char* kFix =
      "the constructor of your class must work without arguments and without a card; move what can fail into the "
      "functions "
      "that are called later";
  object_ = guarded("plugin-create", kWhat, kFix, entry_->create);
  if (!object_) throw Error("plugin-create", kWhat, "create() returned a null pointer", kFix);
  return "an object of the lab's interface";
}

}  // namespace labrig::loader
