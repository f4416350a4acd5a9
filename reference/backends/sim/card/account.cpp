// Account, and the names of the metrics.
#include "card/account.hpp"

#include <algorithm>

namespace labrig::sim {

void Account::begin(std::int64_t now_ps) {
  metrics_ = {};
  metrics_.peak_allocated_bytes = allocated_;
  for (Held& card : by_card_) card.peak_bytes = card.bytes;
  metrics_.peak_reserved_bytes = reserved_;
  metrics_.pinned_peak_bytes = pinned_;
  metrics_.pinned_taken_peak_bytes = pinned_taken_;
  frozen_ = false;
  begin_ps_ = now_ps;
  peak_ps_ = 0;
  loop_start_.reset();
  loop_end_.reset();
  timeline_.clear();
  memory_.clear();
  add_memory_point(now_ps);
}

void Account::hold(std::uint64_t& held, std::uint64_t& peak, std::int64_t bytes, std::int64_t now_ps) {
  held += static_cast<std::uint64_t>(bytes);
  if (frozen_) return;
  peak = std::max(peak, held);
  add_memory_point(now_ps);
}

bool Account::hold_allocated(std::size_t card, std::int64_t bytes, std::int64_t now_ps) {
  Held& held = by_card_[card];
  held.bytes += static_cast<std::uint64_t>(bytes);
  if (!frozen_) held.peak_bytes = std::max(held.peak_bytes, held.bytes);
  const std::uint64_t before = metrics_.peak_allocated_bytes;
  hold(allocated_, metrics_.peak_allocated_bytes, bytes, now_ps);
  if (metrics_.peak_allocated_bytes == before) return false;
  peak_ps_ = since_begin(now_ps);
  return true;
}

void Account::add_memory_point(std::int64_t now_ps) {
  const MemoryPoint point{now_ps - begin_ps_, allocated_, reserved_, pinned_};
  if (!memory_.empty() && memory_.back().time_ps == point.time_ps) {
    // Of several changes at one moment the highest is shown: a curve must not hide its peak.
    if (point.allocated_bytes + point.reserved_bytes + point.pinned_bytes >=
        memory_.back().allocated_bytes + memory_.back().reserved_bytes + memory_.back().pinned_bytes) {
      memory_.back() = point;
      return;
    }
  }
  if (memory_.size() < trace_events_) memory_.push_back(point);
}

void Account::add_span(Span span) {
  if (frozen_ || timeline_.size() >= trace_events_) return;
  span.start_ps -= begin_ps_;
  span.end_ps -= begin_ps_;
  timeline_.push_back(std::move(span));
}

void Account::add_host_span(std::string name, std::int64_t start_ps, std::int64_t end_ps, std::uint16_t device,
                            std::uint16_t stream, std::uint64_t bytes, Span::Wait wait) {
  if (end_ps > start_ps) add_span({Span::Lane::host, device, stream, start_ps, end_ps, bytes, std::move(name), wait});
}

void Account::add_operation(const FinishedOperation& operation) {
  if (frozen_ || timeline_.size() >= trace_events_) return;
  const Span::Lane lane = operation.engine == Engine::compute ? Span::Lane::compute
                          : operation.engine == Engine::up    ? Span::Lane::up
                                                              : Span::Lane::down;
  std::string name(operation.label.kind);
  const std::string& tensor = names_.text(operation.label.name);
  if (!tensor.empty()) name += " " + tensor;
  add_span({lane, operation.device, operation.stream, operation.start_ps, operation.end_ps, operation.label.bytes,
            std::move(name), Span::Wait::none});
}

void Account::mark_loop(std::int64_t now_ps) {
  if (frozen_) return;
  loop_end_ = LoopMark{now_ps, metrics_.loop_full_stops, metrics_.loop_pinned_tensors};
  if (!loop_start_) loop_start_ = loop_end_;
}

// While the call runs the counters of the loop count all of it; at the end only what lies between the marks stays.
void Account::close_loop(std::int64_t now_ps) {
  metrics_.loop_ps = now_ps - begin_ps_;
  if (!loop_start_) return;
  metrics_.loop_full_stops = loop_end_->full_stops - loop_start_->full_stops;
  metrics_.loop_pinned_tensors = loop_end_->pinned_tensors - loop_start_->pinned_tensors;
  metrics_.loop_ps = now_ps - loop_start_->time_ps;
}

void Account::close(std::int64_t now_ps, const EngineUse& use) {
  if (frozen_) return;
  metrics_.time_ps = now_ps - begin_ps_;
  metrics_.busy_compute_ps = use.busy_ps[static_cast<std::size_t>(Engine::compute)];
  metrics_.busy_up_ps = use.busy_ps[static_cast<std::size_t>(Engine::up)];
  metrics_.busy_down_ps = use.busy_ps[static_cast<std::size_t>(Engine::down)];
  metrics_.overlap_ps = use.overlap_ps;
  close_loop(now_ps);
}

void Account::write(Report& report, std::int64_t now_ps, const EngineUse& use) const {
  Account closed = *this;
  closed.close(now_ps, use);
  report.metrics = closed.metrics_;
  report.peak_allocated_bytes_by_card.clear();
  for (const Held& card : closed.by_card_) report.peak_allocated_bytes_by_card.push_back(card.peak_bytes);
  report.timeline = std::move(closed.timeline_);
  report.memory = std::move(closed.memory_);
  std::stable_sort(report.timeline.begin(), report.timeline.end(),
                   [](const Span& a, const Span& b) { return a.start_ps < b.start_ps; });
}

std::vector<std::pair<std::string, std::int64_t>> to_rows(const Metrics& m) {
  const auto integer = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  return {
      {"h2d_bytes", integer(m.h2d_bytes)},
      {"h2d_copies", integer(m.h2d_copies)},
      {"h2d_non_blocking_bytes", integer(m.h2d_non_blocking_bytes)},
      {"h2d_async_bytes", integer(m.h2d_async_bytes)},
      {"d2h_bytes", integer(m.d2h_bytes)},
      {"d2h_copies", integer(m.d2h_copies)},
      {"launches", integer(m.launches)},
      {"device_flops", integer(m.device_flops)},
      {"device_bytes", integer(m.device_bytes)},
      {"hidden_copies", integer(m.hidden_copies)},
      {"hidden_copy_bytes", integer(m.hidden_copy_bytes)},
      {"syncs_explicit", integer(m.syncs_explicit)},
      {"syncs_value", integer(m.syncs_value)},
      {"syncs_copy", integer(m.syncs_copy)},
      {"syncs_implicit", integer(m.syncs_implicit)},
      {"time_ps", m.time_ps},
      {"peak_allocated_bytes", integer(m.peak_allocated_bytes)},
      {"peak_reserved_bytes", integer(m.peak_reserved_bytes)},
      {"pinned_peak_bytes", integer(m.pinned_peak_bytes)},
      {"pinned_taken_peak_bytes", integer(m.pinned_taken_peak_bytes)},
      {"hazards", integer(m.hazards)},
      {"busy_compute_ps", m.busy_compute_ps},
      {"busy_up_ps", m.busy_up_ps},
      {"busy_down_ps", m.busy_down_ps},
      {"overlap", m.overlap_ps},
      {"loop_full_stops", integer(m.loop_full_stops)},
      {"loop_pinned_tensors", integer(m.loop_pinned_tensors)},
      {"loop_ps", m.loop_ps},
  };
}

}  // namespace labrig::sim
