// Logs of loss scales: what a scaler did over a run says whether f16 fits the model. Lists of numbers (JSON or plain),
// or the lines that apex, DeepSpeed, fairseq and others print. Logs of overflows alone show the scale only after it
// fell.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "labrig/triage.hpp"

namespace labrig::triage {

struct ScaleLog {
  std::string name;
  std::vector<double> scales;
  bool only_overflows = false;   // steps between two entries are not in the log
  bool good_steps = false;       // lines of good steps stand between those of overflows
  bool reached_minimum = false;  // "Minimum loss scale reached"
  bool nan_loss = false;         // a loss beside the scales is NaN or infinite
  std::vector<std::string> unread;
};

// None where the text is no such log.
std::optional<ScaleLog> read_scale_lines(std::string_view text);
// At least three numbers and nothing else.
std::optional<ScaleLog> read_plain_scales(std::string_view text);

Diagnosis diagnose(const ScaleLog& log);
// The gravest first; several logs become parts of it.
Diagnosis diagnose(const std::vector<ScaleLog>& logs);

}  // namespace labrig::triage
