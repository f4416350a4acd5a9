// Origins in words.
#include "tensor/origin.hpp"

namespace labrig {

std::string Origin::str() const {
  const std::string name = source.empty() ? "" : "'" + source + "'";
  switch (kind) {
    case Kind::made:
      return std::string("made by ") + by;
    case Kind::output:
      return "output of " + source;
    case Kind::view:
      return std::string("a view (") + by + ") of " + (name.empty() ? "a tensor without a name" : name);
    case Kind::copy:
      return "copied from " + (name.empty() ? "" : name + " on ") + from.str() + " by " + by;
    case Kind::loaded:
      return "loaded from " + source;
    case Kind::unknown:
      break;
  }
  return {};
}

}  // namespace labrig
