// For lab authors: one class with three methods, one macro line. The same file is compiled twice, into two modules:
//
//   judge.so   runs in the supervisor (trusted):   inputs(…), judge(…)
//   call.so    runs in the worker, beside the submission:   call(…)
//
// The methods are plain (not virtual) and defined inside the class, so that the module that does not use them does not
// contain them: what the judge expects never gets into the worker.
//
//   class MyLab {
//    public:
//     using Submission = my_lab::Submission;                                   // the interface
//     void inputs(const lab::Scenario& scenario, lab::Random& data, lab::Values& in);  // what the submission gets
//     void call(lab::Call& call, Submission& submission);                      // one call of it, on call.device()
//     void judge(const lab::Scenario& scenario, const lab::Values& in, const lab::Values& out, lab::Verdict& verdict);
//   };
//   LABRIG_LAB(MyLab)
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "labrig/export.hpp"
#include "labrig/plugin.hpp"
#include "labrig/tensor.hpp"

namespace labrig::lab {

// Named values in the order they were set: CPU tensors, integers, reals, texts. Travels between supervisor and worker.
// Reading a name that is not there, or as another type, throws Error `no-such-value`.
class LABRIG_API Values {
 public:
  using Value = std::variant<Tensor, std::int64_t, double, std::string>;

  void set(const std::string& name, const Tensor& value);  // a CPU tensor; named after `name`
  void set(const std::string& name, std::int64_t value);
  void set(const std::string& name, int value) { set(name, static_cast<std::int64_t>(value)); }
  void set(const std::string& name, double value);
  void set(const std::string& name, const std::string& value);

  bool has(std::string_view name) const;
  const Tensor& tensor(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  const std::string& text(std::string_view name) const;

  const std::vector<std::pair<std::string, Value>>& all() const { return values_; }
  std::vector<std::pair<std::string, Value>>& all() { return values_; }

 private:
  void put(const std::string& name, Value value);
  const Value& get(std::string_view name) const;
  std::vector<std::pair<std::string, Value>> values_;
};

// One scenario of lab.toml with its parameters drawn (hidden ones from their ranges).
class LABRIG_API Scenario {
 public:
  std::string id;
  std::string kind;     // what to call: the lab's own word
  std::string profile;  // name of the card profile
  Device device;        // the card that is asked for, or the host for scenarios without one
  std::map<std::string, double> parameters;

  // Throws Error `no-such-parameter`, naming the scenario.
  std::int64_t integer(const std::string& name) const;
  double real(const std::string& name) const;
};

// Counter-based random numbers (Philox 4x32-10): the same on every machine and compiler.
class LABRIG_API Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}
  std::uint64_t bits();
  double uniform();  // [0, 1)
  double uniform(double low, double high);
  std::int64_t integer(std::int64_t low, std::int64_t high);  // both ends included
  // CPU tensors.
  Tensor uniform_tensor(const Dims& sizes, double low, double high, Dtype dtype = Dtype::f32);
  Tensor bernoulli_tensor(const Dims& sizes, double probability, Dtype dtype = Dtype::boolean);

 private:
  std::uint64_t seed_, stream_, counter_ = 0;
  std::uint32_t block_[4] = {};
  int left_ = 0;
};

// In the worker: the inputs, the device, and where the outputs go.
class LABRIG_API Call {
 public:
  Call(const Values& inputs, Device device) : inputs_(inputs), device_(device) {}
  const Values& inputs() const { return inputs_; }
  Device device() const { return device_; }
  // What is counted starts here; without it, with the call itself. Once.
  void start_counting();
  // What the lab's own code does on the host in the middle of the call, such as a source of data that takes time to
  // read: charged to the card's clock like an operator of this cost, and shown in charts by this name.
  void host_work(std::uint64_t flops, std::uint64_t bytes, std::string_view name);
  // The loop of the submission, which the metrics `loop_…` count apart, starts at the first mark and ends at the last.
  void mark_loop();
  // Host tensors are copied when call() returns, as they stand; device tensors are read after all streams are
  // synchronised and the clock has stopped.
  void output(const std::string& name, const Tensor& value) { outputs_.set_any(name, value); }
  void output(const std::string& name, std::int64_t value) { outputs_.values.set(name, value); }
  void output(const std::string& name, int value) { outputs_.values.set(name, value); }
  void output(const std::string& name, double value) { outputs_.values.set(name, value); }
  void output(const std::string& name, const std::string& value) { outputs_.values.set(name, value); }

  struct Outputs {
    Values values;
    std::vector<std::pair<std::string, Tensor>> tensors;
    void set_any(const std::string& name, const Tensor& value) { tensors.emplace_back(name, value); }
  };
  Outputs& outputs() { return outputs_; }
  bool counting_started() const { return counting_started_; }

 private:
  const Values& inputs_;
  Device device_;
  Outputs outputs_;
  bool counting_started_ = false;
};

// How two tensors differ; every element is compared and NaN matches nothing.
struct LABRIG_API Comparison {
  bool equal = false;
  std::int64_t wrong = 0, total = 0;
  std::string code;  // wrong-shape, wrong-dtype, not-finite, wrong-values; empty when equal
  std::string text;  // "3 of 512 values are wrong; first at [1, 7]: 0.25, expected 0.5"
  // What the wrong values have in common, where that is clear: unwritten, not-a-number, tail, stale, transposed,
  // constant-factor, slightly-off; how many of them fit it, and a sentence that says so. Empty, 0 otherwise.
  std::string pattern, pattern_text;
  std::int64_t pattern_count = 0;
};
// |actual - expected| <= atol + rtol |expected|; `actual` any CPU tensor, `expected` f64. With `dtype`, `actual` must
// also have that type. `before`: what the same buffer would hold from the call or batch before, in the shape of
// `expected`, for the pattern `stale`; undefined when there is none.
LABRIG_API Comparison compare(const Tensor& actual, const Tensor& expected, double rtol, double atol,
                              std::optional<Dtype> dtype = std::nullopt, const Tensor& before = Tensor());

// Curves that the judge wants in the report: losses by step, times by size.
struct LABRIG_API Chart {
  struct Axis {
    std::string label, unit;  // unit: bytes, ps, flops, or another word; empty for a count
    bool logarithmic = false;
  };
  struct Line {
    std::string label;
    std::string role;                               // "yours", "reference", or "other"
    std::vector<std::pair<double, double>> points;  // x, y; what is not finite is a gap
  };
  std::string id;     // kebab-case; a chart of that name exists once in a case
  std::string title;  // "Loss by step"
  std::string read;   // how to read this, one or two sentences
  Axis x, y;
  std::vector<Line> lines;
};

// What the judge found in one case.
struct LABRIG_API Verdict {
  bool values_right = true;
  std::string code, text;                 // why not; shown to the student
  std::map<std::string, double> figures;  // metrics of the lab's own, for check rules: "regret"
  // To judge by: what the card counted in this case, and what it counts for the reference solution (the case's own
  // figures where that is what is judged). By the metrics' names; both are empty on the host.
  std::map<std::string, double> counted, reference;
  // Named findings that a check asks for by `rule = "finding"`: share 0..1 and, below 1, why.
  struct Finding {
    double share = 1;
    std::string code, text;
  };
  std::map<std::string, Finding> findings;
  // For the report, not for points: the comparisons that failed (at most 20), and curves (at most 4 of at most 2,000
  // points).
  struct Mismatch {
    std::string what;  // "the scores of batch 3"
    Comparison comparison;
  };
  std::vector<Mismatch> mismatches;
  std::vector<Chart> charts;

  void wrong(std::string c, std::string t) {
    if (!values_right) return;  // the first reason stands
    values_right = false;
    code = std::move(c);
    text = std::move(t);
  }
  void require(const Comparison& comparison, const std::string& what);
};

// --- what the two modules hand to the harness ----------------------------------------------------------------------
class JudgeModule {
 public:
  virtual ~JudgeModule() = default;
  virtual void inputs(const Scenario&, Random&, Values&) = 0;
  virtual void judge(const Scenario&, const Values& in, const Values& out, Verdict&) = 0;
};
class CallModule {
 public:
  virtual ~CallModule() = default;
  // `submission` is the pointer that the submission's create() returned.
  virtual void call(Call&, void* submission) = 0;
};

namespace detail {
template <class Lab>
struct Judge : JudgeModule {
  static constexpr std::string_view lab_id = Lab::Submission::lab_id;
  void inputs(const Scenario& s, Random& r, Values& v) override { lab.inputs(s, r, v); }
  void judge(const Scenario& s, const Values& in, const Values& out, Verdict& v) override { lab.judge(s, in, out, v); }
  Lab lab;
};
template <class Lab>
struct Caller : CallModule {
  static constexpr std::string_view lab_id = Lab::Submission::lab_id;
  void call(Call& c, void* submission) override { lab.call(c, *static_cast<typename Lab::Submission*>(submission)); }
  Lab lab;
};
}  // namespace detail

}  // namespace labrig::lab

// Compiled with -DLABRIG_LAB_PART_JUDGE or -DLABRIG_LAB_PART_CALL (labrig_add_lab() does both).
#if defined(LABRIG_LAB_PART_JUDGE)
#define LABRIG_LAB(Lab) LABRIG_LAB_MODULE(Lab, Judge, JudgeModule, LABRIG_LAB_JUDGE_KIND)
#else
#define LABRIG_LAB(Lab) LABRIG_LAB_MODULE(Lab, Caller, CallModule, LABRIG_LAB_CALL_KIND)
#endif
#define LABRIG_LAB_MODULE(Lab, Wrapper, Module, kind)                                            \
  namespace {                                                                                    \
  __attribute__((section(LABRIG_MANIFEST_SECTION), used)) constexpr auto labrig_manifest =       \
      ::labrig::plugin::make_manifest<::labrig::lab::detail::Wrapper<Lab>, kind>();              \
  }                                                                                              \
  extern "C" __attribute__((visibility("default"), used)) const labrig_plugin_v1 labrig_plugin = \
      ::labrig::plugin::make_entry<::labrig::lab::Module, ::labrig::lab::detail::Wrapper<Lab>, kind>();
