#include "build/build_submission.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "build/compiler_messages.hpp"
#include "build/lesser_user.hpp"
#include "build/run_program.hpp"
#include "store/atomic_file.hpp"
#include "store/digest.hpp"

namespace labrig::build {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t kLargestSource = std::uintmax_t{4} << 20;
constexpr std::size_t kCompilerMemory = std::size_t{4} << 30, kLargestOutput = std::size_t{512} << 20;
constexpr int kCompilerWallMs = 120'000, kCompilerCpuSeconds = 60;

// Each text with its length, so that moving a byte from one to the next changes the hash.
std::string hash_of(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all.append(std::to_string(text.size())).append(":").append(text);
  return store::sha256_hex(all);
}

Error compiler_missing(const std::string& compiler, const std::string& ending) {
  return Error(
      "no-compiler", fmt::format("the C++ compiler `{}` does not run", compiler),
      fmt::format("a submission folder is compiled before it is run, and starting the compiler ended with: {}", ending),
      "install it (Debian, Ubuntu: apt-get install g++), or name another one with LABRIG_CXX; `labrig doctor` checks");
}

bool is_compiled(const std::string& name) {
  const std::string extension = fs::path(name).extension();
  return extension == ".cpp" || extension == ".cc" || extension == ".cxx";
}

// The headers of the lab's folder, which the submission includes.
std::vector<std::string> lab_headers(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".hpp" || entry.path().extension() == ".h") paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> texts;
  for (const fs::path& path : paths) {
    texts.push_back(path.filename());
    texts.push_back(store::read_file(path).value());
  }
  return texts;
}

std::vector<std::string> command_line(const Compiler& compiler, const SubmissionSource& source,
                                      const fs::path& lab_folder, const Installation& installation, Purpose purpose) {
  std::vector<std::string> line = {compiler.path, "-std=c++20", "-shared", "-fdiagnostics-color=never"};
  if (purpose == Purpose::debugging)
    line.insert(line.end(), {"-O0", "-g"});
  else
    line.emplace_back("-O2");
  const BuildFacts& facts = installation.facts;
  const bool clang = compiler.version.find("clang") != std::string::npos;
  for (const std::string& option : facts.compile_options)
    if (!clang || option != "-fno-gnu-unique") line.push_back(option);  // g++ alone knows it, and needs it
  line.insert(line.end(), {"-I" + installation.include.string(), "-I" + fs::absolute(lab_folder).string()});
  for (const auto& [name, content] : source.files)
    if (is_compiled(name)) line.push_back(name);
  line.insert(line.end(), {"-o", "built.labrig.so"});
  line.insert(line.end(), facts.link_options.begin(), facts.link_options.end());
  line.insert(line.end(), {"-L" + installation.lib.string(), "-llabrig-core", "-llabrig-amp", "-llabrig-data"});
  return line;
}

// Beside each plugin of the cache: what it must be. A file that was cut short is not taken for the plugin.
fs::path digest_file(const fs::path& plugin) { return plugin.string() + ".sha256"; }

bool is_whole(const fs::path& plugin) {
  const Result<std::string> digest = store::read_file(digest_file(plugin)), bytes = store::read_file(plugin);
  return digest && bytes && store::sha256_hex(bytes.value()) == digest.value();
}

// A folder of its own for one build, beside the place of the result, gone when the build is over.
class Workplace {
 public:
  explicit Workplace(const fs::path& cache) {
    std::string name = (cache / "building-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw Error("cannot-write", fmt::format("cannot make a folder in {}", cache.string()),
                  "built submissions are kept there, and it cannot be written",
                  "make it writable, or set XDG_CACHE_HOME to a folder that is");
    folder_ = name;
    const std::optional<LesserUser> user = lesser_user();  // it is the compiler that writes here
    if (user && ::chown(name.c_str(), user->uid, user->gid) != 0)
      throw Error("cannot-write", fmt::format("cannot give {} to the user {}", name, user->name),
                  "the compiler runs as that user and writes there", "set XDG_CACHE_HOME to a folder of a plain disk");
  }
  ~Workplace() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

Result<SubmissionSource> read_files(const fs::path& folder, const std::vector<std::string>& files) {
  const fs::path place = fs::absolute(folder / ".").lexically_normal().parent_path();
  SubmissionSource source{place.filename(), {}, {}, place};
  std::vector<std::string> hashed;
  for (const std::string& name : files) {
    const fs::path path = folder / name;
    if (!fs::exists(path))
      return Error("missing-file", fmt::format("the submission has no {}", name),
                   fmt::format("the lab reads this file, and {} is not there", path.string()),
                   "give the file that name, or start from a fresh copy: `labrig new LAB FOLDER`");
    const fs::path real = fs::canonical(path);
    const std::string relative = real.lexically_relative(fs::canonical(folder)).string();
    if (!fs::is_regular_file(real) || relative.starts_with("..") || fs::file_size(real) > kLargestSource)
      return Error("unfit-file", fmt::format("{} cannot be taken as source", name),
                   "it must be a plain file inside the submission's folder, of at most 4 MiB",
                   "put the code itself there, not a link to another place");
    auto content = store::read_file(real);
    if (!content) return content.error();
    hashed.insert(hashed.end(), {name, *content});
    source.files.emplace_back(name, std::move(content).value());
  }
  source.hash = hash_of(hashed);
  return source;
}

Error interrupted() { return {"interrupted", "the build was interrupted", "a signal ended it", "start it again"}; }

Error build_failure(const RunResult& run) {
  if (run.timed_out || run.signal == SIGXCPU || run.signal == SIGKILL)
    return Error("build-over-limit", "the submission was not compiled within the limits",
                 fmt::format("the compiler was stopped after {} s",
                             run.timed_out ? kCompilerWallMs / 1000 : kCompilerCpuSeconds),
                 "look for templates or constexpr code that never ends; a submission usually compiles in two seconds");
  if (const std::string why = tool_failure(run.output); !why.empty())
    return Error("cannot-compile", "the compiler could not do its work", why,
                 "make room on the disk, or install the compiler again; `labrig doctor` checks this machine");
  return Error("does-not-build", "the submission does not compile", first_error(run.output),
               "correct this first error, then try again: later errors often follow from it");
}

}  // namespace

fs::path last_log() { return cache_folder() / "build" / "last-error.log"; }

fs::path cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) return fs::path(cache) / "labrig";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache/labrig";
  return fs::temp_directory_path() / fmt::format("labrig-{}", getuid());
}

Result<SubmissionSource> read_submission(const fs::path& folder, const std::vector<std::string>& files) {
  if (!fs::is_directory(folder))
    return Error("no-such-folder", fmt::format("there is no folder {}", folder.string()),
                 fs::exists(folder) ? "it is a file, not a folder" : "nothing has that name",
                 "give the folder that `labrig new LAB FOLDER` made");
  try {
    return read_files(folder, files);
  } catch (const fs::filesystem_error& error) {
    return Error("unfit-file", fmt::format("the submission in {} cannot be read", folder.string()),
                 error.code().message(), "check that its files and folders may be read");
  }
}

Result<Compiler> find_compiler(const Installation& installation) {
  const char* chosen = std::getenv("LABRIG_CXX");
  const std::string path = chosen && *chosen ? chosen : installation.facts.compiler;
  const RunResult run = run_program(as_lesser_user({path, "--version"}), {});
  if (!run.succeeded()) return compiler_missing(path, run.ending());
  return Compiler{path, run.output.substr(0, run.output.find('\n'))};
}

Result<BuiltSubmission> build_submission(const SubmissionSource& source, const fs::path& lab_folder,
                                         const Installation& installation, Purpose purpose) {
  const StopScope stop;  // the workplace goes, however this ends
  const auto compiler = find_compiler(installation);
  if (StopScope::signal() != 0) return interrupted();
  if (!compiler) return compiler.error();
  std::vector<std::string> line = command_line(compiler.value(), source, lab_folder, installation, purpose);
  try {
    // What the result depends on: the answer, the interface, the public headers, the compiler and how it is called.
    std::vector<std::string> parts = lab_headers(lab_folder);
    parts.insert(parts.end(), {source.hash, installation.facts.header_hash, compiler.value().version});
    parts.insert(parts.end(), line.begin(), line.end());
    if (purpose == Purpose::debugging) parts.push_back(source.folder.string());
    const fs::path cache = cache_folder() / "build", plugin = cache / (hash_of(parts).substr(0, 32) + ".labrig.so");
    if (is_whole(plugin)) return BuiltSubmission{plugin, source.hash, true, {}};

    fs::create_directories(cache);
    const Workplace workplace(cache);
    for (const auto& [name, content] : source.files) {
      if (!store::write_atomically(workplace.folder() / name, content, store::Existing::keep))
        return Error("unfit-file", fmt::format("the lab names {} twice", name),
                     "[submission] files has it more than once", "correct lab.toml");
    }
    RunOptions options;
    options.folder = workplace.folder();
    options.wall_ms = kCompilerWallMs;
    options.cpu_s = kCompilerCpuSeconds;
    options.memory_bytes = kCompilerMemory;
    options.file_bytes = kLargestOutput;
    // A debugger looks for the student's file where the student has it.
    if (purpose == Purpose::debugging)
      line.push_back("-fdebug-prefix-map=" + workplace.folder().string() + "=" + source.folder.string());
    const RunResult run = run_program(as_lesser_user(line), options);
    if (!run.started) return compiler_missing(compiler.value().path, run.ending());
    if (StopScope::signal() != 0) return interrupted();
    if (!run.succeeded()) {
      store::write_atomically(last_log(), run.output, store::Existing::replace);
      return build_failure(run);
    }
    const std::string built = store::read_file(workplace.folder() / "built.labrig.so").value();
    store::write_atomically(plugin, built, store::Existing::replace);
    store::write_atomically(digest_file(plugin), store::sha256_hex(built), store::Existing::replace);
    return BuiltSubmission{plugin, source.hash, false, run.output};
  } catch (const fs::filesystem_error& error) {
    return Error("cannot-write", "the built submission cannot be kept", error.what(),
                 "make the cache folder writable, or set XDG_CACHE_HOME to a folder that is");
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace labrig::build
