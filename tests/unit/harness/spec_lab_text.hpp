// A small lab.toml for tests, and a way to change one line of it.
#pragma once

#include <stdexcept>
#include <string>

namespace labrig::test {

inline const std::string kLabText = R"(schema = 1

[lab]
id = "toy"
version = "1.0.0"
title = "A toy"

[submission]
files = ["submission.cpp"]

[[task]]
id = 1
title = "First"

[[task]]
id = 2
title = "Second"

[[scenario]]
id = "small"
kind = "score"
profiles = ["desktop", "h200"]
parameters = { rows = 1_000, budget_bytes = 4096 }

[[scenario]]
id = "unseen"
kind = "score"
visibility = "hidden"
profiles = ["desktop"]
parameters = { rows = { from = 10, to = 20, step = 5 }, budget_bytes = 4096 }

[[scenario]]
id = "advice"
kind = "decide"
device = "cpu"

[[check]]
id = "values-right"
task = 1
title = { passed = "Right", failed = "Wrong" }
points = 30
kinds = ["score"]
combine = "worst"
rule = "values"
code = "wrong-values"
text = "wrong in {case}"
hints = ["a", "b", "c"]

[[check]]
id = "bytes-up"
task = 1
title = { passed = "Few bytes", failed = "Many bytes" }
points = 30
kinds = ["score"]
rule = "at_most"
metric = ["h2d_bytes"]
reference_times = 1.1
code = "too-many-bytes"
text = "{value} went up in {case}; the reference needs {reference}"
hints = ["d", "e", "f"]

[[check]]
id = "time"
task = 2
title = { passed = "Fast", failed = "Slow" }
points = 20
kinds = ["score"]
rule = "ratio"
metric = ["time_ps"]
code = "slow"
text = "{ratio} of the reference"
hints = ["g", "h", "i"]

[[check]]
id = "worth-it"
task = 2
title = { passed = "Wise", failed = "Unwise" }
points = 20
kinds = ["decide"]
rule = "finding"
finding = "regret"
code = "unwise"
text = "unwise"
hints = ["j", "k", "l"]
)";

inline std::string replaced(std::string text, const std::string& old, const std::string& with) {
  const std::size_t at = text.find(old);
  if (at == std::string::npos) throw std::logic_error("the text has no '" + old + "'");
  return text.replace(at, old.size(), with);
}

}  // namespace labrig::test
