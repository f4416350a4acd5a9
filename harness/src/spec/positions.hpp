// Where each key of a TOML file stands, so that an error found later can still name its line. Internal to spec/.
#pragma once

#include <map>
#include <string>

#include "labrig/error.hpp"
#include "spec/lab_spec.hpp"

namespace labrig::spec {

struct Position {
  unsigned line = 0, column = 0;
};

class Positions {
 public:
  // `code` is that of the errors, "bad-lab-toml".
  Positions(std::string file, std::string code) : file_(std::move(file)), code_(std::move(code)) {}
  // `path` is the key's place: "check.3.needs" for the fourth [[check]].
  void note(const std::string& path, Position position) { positions_[path] = position; }
  // "lab.toml:12:5: "; the file alone for a place that was not noted.
  std::string at(const std::string& path) const;
  // An Error at that place.
  Error error(const std::string& path, const std::string& what, std::string why, std::string fix) const;

 private:
  std::string file_, code_;
  std::map<std::string, Position> positions_;
};

// What no single key shows: ids given twice, checks that name unknown tasks, kinds, checks or anchors of the handout,
// points that do not sum to 100. Throws Error `bad-lab-toml`.
void validate(const LabSpec& spec, const Positions& positions, const std::string& handout);
// What a check says: metrics that are nearly one of the card's, placeholders that stand for nothing.
void validate_words(const LabSpec& spec, const Positions& positions);

}  // namespace labrig::spec
