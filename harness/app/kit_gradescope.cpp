// labrig kit gradescope --out F.zip: an autograder for Gradescope. The figures of the reference solution are recorded
// now, for the course's secret too, so that no solution travels.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "ci_files.hpp"
#include "console.hpp"
#include "grading.hpp"
#include "kit/product.hpp"
#include "kit/zip_file.hpp"
#include "kit_parts.hpp"
#include "labrig/error.hpp"

namespace labrig::app {
namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t kMostBytes = 100'000'000;  // what Gradescope is known to take

}  // namespace

void make_gradescope_kit(Context& context, const KitArguments& arguments) {
  const fs::path out = arguments.out;
  const std::vector<spec::LabSpec> labs = labs_for_kit(context, arguments.labs);
  const std::string secret =
      arguments.secret_file.empty() ? std::string(spec::kPublicSecret) : read_secret(arguments.secret_file);
  StagedFolder kit(out);
  kit::copy_product(context.root, kit.path() / "labrig");
  for (const spec::LabSpec& lab : labs)
    kit::copy_lab(lab, kit.path() / "labrig/labs" / lab.id, kit::Audience::grader,
                  figures_for_kit(context, lab, secret, kit::Audience::grader));
  write_file(kit.path() / "setup.sh", kit_file(context, "gradescope/setup.sh"), true);
  write_file(kit.path() / "run_autograder",
             kit_file(context, "gradescope/run_autograder", {{"SECONDS", std::to_string(arguments.minutes * 60)}}),
             true);
  if (!arguments.secret_file.empty()) {
    write_file(kit.path() / "secret", secret + "\n");
    fs::permissions(kit.path() / "secret", fs::perms(0600));
  }
  kit::write_zip(kit.path(), out);

  const std::uintmax_t bytes = fs::file_size(out);
  if (bytes > kMostBytes)
    std::fprintf(stderr, "warning: %s has %.0f MB; Gradescope may refuse more than 100\n", out.string().c_str(),
                 static_cast<double>(bytes) / 1e6);
  if (context.json) {
    nlohmann::ordered_json answer = {{"file", out.string()}, {"bytes", bytes}, {"labs", nlohmann::json::array()}};
    for (const spec::LabSpec& lab : labs) answer["labs"].push_back(lab.id);
    print_answer(answer);
  } else if (!context.quiet) {
    std::printf("%s is ready: %zu lab%s, %.1f MB\nnext: upload it as the autograder of a programming assignment\n",
                out.string().c_str(), labs.size(), labs.size() == 1 ? "" : "s", static_cast<double>(bytes) / 1e6);
  }
}

}  // namespace labrig::app
