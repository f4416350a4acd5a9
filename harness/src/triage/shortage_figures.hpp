// The numbers of a refused request, and what follows from them by arithmetic alone. The rules that decide by them:
// shortage_rules.cpp, whose letters stand for the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "triage/shortage.hpp"

namespace labrig::triage {

struct Figures {
  explicit Figures(Shortage facts);

  Shortage s;
  std::string unit = "GiB";           // that sums are shown in
  std::optional<double> outside;      // of the card: neither free nor in this cache
  std::optional<double> own_outside;  // of this process, not PyTorch's
  std::optional<double> others;       // of other processes
  std::string our_pid;                // the listed process that must be this one
  std::vector<std::string> contradictions;

  bool enough_is_free() const { return s.requested && s.free && s.free->bytes >= s.requested->bytes; }
  bool never_fits() const {
    return s.requested && s.total && s.requested->bytes > s.total->bytes + s.total->slack_bytes;
  }
  bool beyond_limit() const {
    return s.allowed && s.requested && s.reserved &&
           s.reserved->bytes + s.requested->bytes > s.allowed->bytes - s.allowed->slack_bytes - s.reserved->slack_bytes;
  }
  std::string in(double bytes) const { return size_in(bytes, unit); }
  std::string number(double bytes) const { return number_in(bytes, unit); }

 private:
  void find_ourselves();
  void find_contradictions();
};

}  // namespace labrig::triage
