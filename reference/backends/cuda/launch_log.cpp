// Numbers launches and turns a deadly error of the runtime into one that names the launch.
#include "launch_log.hpp"

#include <algorithm>

namespace labrig::cuda {
namespace {

thread_local LaunchLog* current_log = nullptr;

constexpr char kAsync[] =
    "\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be "
    "incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1";
constexpr char kStartAgain[] =
    "; then start the program again, because nothing of this process can use the card any more";

std::uint64_t& at(std::deque<std::uint64_t>& by_stream, StreamId stream) {
  if (by_stream.size() <= stream) by_stream.resize(std::size_t{stream} + 1);
  return by_stream[stream];
}

std::string launch_text(std::uint64_t number, Kernel kernel, StreamId stream) {
  return "launch " + std::to_string(number) + " (" + std::string(name_of(kernel)) + ", stream " +
         std::to_string(stream) + ")";
}

// The codes to which PyTorch adds these lines.
bool comes_late(cudaError_t code) {
  return code == cudaErrorIllegalAddress || code == cudaErrorAssert || code == cudaErrorLaunchFailure ||
         code == cudaErrorIllegalInstruction || code == cudaErrorMisalignedAddress;
}

// What is wrong with an index, in the words of the simulated card.
std::string index_text(const FaultNote& note) {
  const std::string range = std::to_string(note.lowest) + " to " + std::to_string(note.size - 1);
  return "met an index out of range: number " + std::to_string(note.position) + " of operand " +
         std::to_string(note.operand) + " is " + std::to_string(note.value) + ", and allowed are " +
         (note.size > 0 ? range : "none");
}

}  // namespace

bool is_deadly(cudaError_t code) {
  constexpr cudaError_t kDeadly[] = {cudaErrorIllegalAddress,    cudaErrorAssert,
                                     cudaErrorLaunchFailure,     cudaErrorIllegalInstruction,
                                     cudaErrorMisalignedAddress, cudaErrorInvalidAddressSpace,
                                     cudaErrorInvalidPc,         cudaErrorHardwareStackError,
                                     cudaErrorECCUncorrectable,  cudaErrorLaunchTimeout};
  return std::find(std::begin(kDeadly), std::end(kDeadly), code) != std::end(kDeadly);
}

LaunchLog::LaunchLog(int card) : card_(card) {
  void *note = nullptr, *taken = nullptr, *seen_by_card = nullptr;
  check(cudaMalloc(&taken, sizeof(unsigned int)), "cudaMalloc");
  taken_ = DeviceMemory(taken);
  check(cudaMemset(taken, 0, sizeof(unsigned int)), "cudaMemset");
  check(cudaHostAlloc(&note, sizeof(FaultNote), cudaHostAllocMapped | cudaHostAllocPortable), "cudaHostAlloc");
  note_ = new (note) FaultNote;
  check(cudaHostGetDevicePointer(&seen_by_card, note, 0), "cudaHostGetDevicePointer");
  site_.note = static_cast<FaultNote*>(seen_by_card);
  site_.taken = static_cast<unsigned int*>(taken);
}

LaunchLog::~LaunchLog() {
  if (note_ != nullptr) ignore(cudaFreeHost(note_));
}

void LaunchLog::abandon() {
  note_ = nullptr;
  taken_.release();
}

LaunchLog* LaunchLog::current() { return current_log; }
LaunchLog::Scope::Scope(LaunchLog* log) : before_(current_log) { current_log = log; }
LaunchLog::Scope::~Scope() { current_log = before_; }

FaultSite LaunchLog::begin(Kernel kernel, StreamId stream) {
  const std::lock_guard hold(lock_);
  FaultSite site = site_;
  site.launch = ++launches_;
  recent_[site.launch % kRemembered] = {site.launch, kernel, stream};
  at(newest_, stream) = site.launch;
  return site;
}

std::uint64_t LaunchLog::newest(StreamId stream) const {
  const std::lock_guard hold(lock_);
  return stream < newest_.size() ? newest_[stream] : 0;
}

std::deque<std::uint64_t> LaunchLog::newest() const {
  const std::lock_guard hold(lock_);
  return newest_;
}

void LaunchLog::completed(StreamId stream, std::uint64_t launch) {
  const std::lock_guard hold(lock_);
  std::uint64_t& done = at(completed_, stream);
  done = std::max(done, launch);
}

void LaunchLog::completed(const std::deque<std::uint64_t>& by_stream) {
  for (std::size_t stream = 0; stream < by_stream.size(); ++stream)
    completed(static_cast<StreamId>(stream), by_stream[stream]);
}

// "launch 7 (index, stream 0), launch 8 (add, stream 0)": those that are not known to have ended, oldest first.
std::string LaunchLog::suspects() const {
  constexpr int kNamed = 8;
  std::string text;
  std::uint64_t count = 0;
  const std::uint64_t oldest = launches_ < kRemembered ? 1 : launches_ - kRemembered + 1;
  for (std::uint64_t number = oldest; number <= launches_; ++number) {
    const Launch& launch = recent_[number % kRemembered];
    if (launch.stream < completed_.size() && number <= completed_[launch.stream]) continue;
    if (++count <= kNamed) text += (text.empty() ? "" : ", ") + launch_text(number, launch.kernel, launch.stream);
  }
  if (count > kNamed) text += " and " + std::to_string(count - kNamed) + " later ones";
  return text;
}

Error LaunchLog::first_error(cudaError_t code, const std::string& call) const {
  const std::string where = call + " reports it";
  // The note is written by the card, behind the compiler's back.
  const volatile std::int32_t& written = note_->written;
  if (written != 0) {
    const FaultNote note = *note_;
    const Launch& launch = recent_[note.launch % kRemembered];
    const bool known = launch.number == note.launch;
    return {"device-assert", std::string("CUDA error: device-side assert triggered") + kAsync,
            (known ? launch_text(note.launch, launch.kernel, launch.stream) : "launch " + std::to_string(note.launch)) +
                " on cuda:" + std::to_string(card_) + " " + index_text(note) + "; " + where,
            "correct the index, or the size that it points into" + std::string(kStartAgain)};
  }
  const std::string named = suspects();
  return {"cuda-error", std::string("CUDA error: ") + cudaGetErrorString(code) + (comes_late(code) ? kAsync : ""),
          where + " (" + cudaGetErrorName(code) + "); " +
              (named.empty() ? "no launch of labrig was under way, so the kernel is not one of its own"
                             : "under way on cuda:" + std::to_string(card_) + " were " + named),
          "run with LABRIG_LAUNCH_BLOCKING=1, which names the one launch, or under compute-sanitizer, which names the "
          "address" +
              std::string(kStartAgain)};
}

Error LaunchLog::explain(cudaError_t code, const std::string& call) {
  const std::lock_guard hold(lock_);
  if (!death_) {
    death_ = first_error(code, call);
    return *death_;
  }
  return {death_->code(), death_->what(), call + " failed because the card died before: " + death_->why(),
          death_->fix()};
}

}  // namespace labrig::cuda
