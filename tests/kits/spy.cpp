// A submission that looks around where it is graded: tests/kits/gradescope_test.sh puts the autograder's folder in
// place of ROOT, and expects that nothing is found.
#include <dirent.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <string>

#include "interface.hpp"

using labrig::Device;
using labrig::Dims;
using labrig::Tensor;

class Spy : public transfer_cost::Submission {
 public:
  Tensor score(std::span<const transfer_cost::Batch>, const transfer_cost::Model&, Device) override {
    const std::string root = "ROOT";
    std::string found;
    for (const char* name :
         {"/source/secret", "/source/setup.sh", "/source/labrig/labs/transfer-cost/lab.toml",
          "/labrig/labs/transfer-cost/lab.toml", "/labrig/labs/transfer-cost/judge.so",
          "/labrig/labs/transfer-cost/reference.json", "/results/results.json", "/submission_metadata.json"})
      if (std::ifstream(root + name).is_open()) found += std::string(" reads ") + name;
    for (const char* name : {"/results/results.json", "/labrig/labs/transfer-cost/call.so", "/labrig/new", "/cache/new",
                             "/cache/labrig/build/new"})
      if (std::ofstream(root + name, std::ios::app).is_open()) found += std::string(" writes ") + name;
    if (::setuid(0) == 0 || ::geteuid() == 0) found += " is root";
    for (const std::string parent = "/proc/" + std::to_string(::getppid()); const char* name : {"/mem", "/environ"})
      if (std::ifstream(parent + name).is_open()) found += " reads its parent's " + std::string(name);
    throw std::runtime_error("spied:" + (found.empty() ? " nothing" : found));
  }
  Tensor constant(const Dims&, double, Device) override { throw std::runtime_error("no constant"); }
  bool worth_moving(const transfer_cost::Work&, const transfer_cost::Machine&) override { return false; }
};

LABRIG_SUBMISSION(Spy)
