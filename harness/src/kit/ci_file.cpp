#include "kit/ci_file.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>

#include "spec/toml_reader.hpp"

namespace labrig::kit {

namespace {

using spec::TomlReader;

const std::vector<std::string> kFormats = {"html", "json", "junit"};
constexpr char kOut[] = "labrig-reports";

// A folder of the repository, not above it.
std::filesystem::path inner_path(TomlReader& reader, const std::string& key, const std::string& otherwise) {
  const std::string text = reader.text(key, otherwise);
  const std::filesystem::path path = std::filesystem::path(text).lexically_normal();
  if (text.empty() || path.is_absolute() || path.begin()->string() == "..")
    reader.wrong(key, "a path inside the repository", '"' + text + '"');
  return path;
}

std::vector<std::string> read_formats(TomlReader& reader, const std::vector<std::string>& otherwise,
                                      const std::vector<std::string>& known) {
  if (!reader.has("formats")) return otherwise;
  const std::vector<std::string> formats = reader.texts("formats");
  for (const std::string& format : formats) {
    if (std::ranges::find(known, format) != known.end()) continue;
    std::string list;
    for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
    reader.wrong("formats", "formats out of " + list, '"' + format + '"');
  }
  return formats;
}

std::string read_secret(TomlReader& reader, const std::string& otherwise) {
  const std::string name = reader.text("secret", otherwise);
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  if (!std::ranges::all_of(name, fits) || (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front()))))
    reader.wrong("secret", "the name of an environment variable, such as LABRIG_SECRET", "another text");
  return name;
}

void read_common(TomlReader& reader, CiSubmission& submission, const std::vector<std::string>& known_formats) {
  submission.formats = read_formats(reader, submission.formats, known_formats);
  submission.secret = read_secret(reader, submission.secret);
  submission.view =
      reader.word<View>("view", {{"student", View::student}, {"instructor", View::instructor}}, submission.view);
  if (reader.has("pass_mark")) {
    submission.pass_mark = reader.number("pass_mark");
    if (*submission.pass_mark < 0 || *submission.pass_mark > 100)
      reader.wrong("pass_mark", "a number from 0 to 100", fmt::format("{}", *submission.pass_mark));
  }
}

void refuse_same_folder(const std::vector<CiSubmission>& before, const CiSubmission& submission, TomlReader& reader) {
  for (const CiSubmission& other : before)
    if (other.out == submission.out)
      reader.wrong(reader.has("out") ? "out" : "lab", "a folder of its own for each submission's reports",
                   '"' + submission.out.string() + "\" a second time; name another one with out = …");
}

std::vector<CiSubmission> read(TomlReader top, const std::vector<std::string>& known_formats) {
  if (const std::int64_t schema = top.integer("schema"); schema != 1) top.wrong("schema", "1", std::to_string(schema));
  CiSubmission common;
  common.formats = kFormats;
  read_common(top, common, known_formats);
  const std::filesystem::path out = inner_path(top, "out", kOut);
  std::vector<CiSubmission> submissions;
  for (TomlReader& reader : top.tables("submission")) {
    CiSubmission submission = common;
    submission.place = reader.where();
    submission.path = inner_path(reader, "path", reader.text("path"));
    submission.lab = reader.text("lab");
    read_common(reader, submission, known_formats);
    submission.out = inner_path(reader, "out", (out / submission.lab).string());
    refuse_same_folder(submissions, submission, reader);
    reader.finish();
    submissions.push_back(std::move(submission));
  }
  top.finish();
  return submissions;
}

}  // namespace

Result<std::vector<CiSubmission>> parse_ci_file(std::string_view text, const std::string& file,
                                                const std::vector<std::string>& known_formats) {
  try {
    spec::Positions positions(file, "bad-ci-file");
    const spec::TomlDocument document(text, file);
    return read(document.top("labrig.toml", positions), known_formats);
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace labrig::kit
