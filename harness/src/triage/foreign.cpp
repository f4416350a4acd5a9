// The table of foreign messages: the first row whose words stand in the text decides.
#include "triage/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "triage/amount.hpp"
#include "triage/message.hpp"

namespace labrig::triage {
namespace {

enum class Kind { framework, runtime, host, host_killed, host_shared, library, driver };

// `words`: in a compact text (lower case, no blanks). `who`: for the title.
struct Row {
  const char* words;
  Kind kind;
  const char* who;
};
// Frameworks first: their messages quote the host's and the driver's words.
constexpr std::array kRows = {
    Row{"rmmfailure", Kind::framework, "RMM"},
    Row{"rmm_error", Kind::framework, "RMM"},
    Row{"cupy", Kind::framework, "CuPy"},
    Row{"ggml_", Kind::framework, "ggml (llama.cpp)"},
    Row{"onnxruntime", Kind::framework, "ONNX Runtime"},
    Row{"bfcarena", Kind::framework, "ONNX Runtime"},
    Row{"paddle", Kind::framework, "PaddlePaddle"},
    Row{"mxnet", Kind::framework, "MXNet"},
    Row{"oomwhenallocatingtensor", Kind::framework, "TensorFlow"},
    Row{"resourceexhaustederror", Kind::framework, "TensorFlow"},
    Row{"jaxlib", Kind::framework, "JAX"},
    Row{"xlaruntimeerror", Kind::framework, "JAX"},
    Row{"resource_exhausted", Kind::framework, "JAX (XLA)"},
    Row{"resourceexhausted:outofmemory", Kind::framework, "JAX (XLA)"},
    Row{"bfc_allocator", Kind::framework, "TensorFlow or JAX"},
    Row{"gpu_0_bfc", Kind::framework, "TensorFlow or JAX"},
    Row{"fromdevice:cuda_error_out_of_memory", Kind::framework, "TensorFlow or JAX"},
    Row{"fromdevice:hiperror", Kind::framework, "TensorFlow"},
    Row{"xla_python_client", Kind::framework, "JAX"},
    Row{"cl_mem_object_allocation_failure", Kind::framework, "OpenCL"},
    Row{"cl_out_of_resources", Kind::framework, "OpenCL"},
    Row{"erroroutofdevicememory", Kind::framework, "Vulkan"},
    Row{"vk_error_out_of_device_memory", Kind::framework, "Vulkan"},
    Row{"java.lang.outofmemoryerror", Kind::runtime, "Java"},
    Row{"heapoutofmemory", Kind::runtime, "JavaScript"},
    Row{"insufficientsharedmemory", Kind::host_shared, ""},
    Row{"outofsharedmemory", Kind::host_shared, ""},
    Row{"buserror", Kind::host_shared, ""},
    Row{"defaultcpuallocator", Kind::host, ""},
    Row{"alloc_cpu.cpp", Kind::host, ""},
    Row{"cpuallocator.cpp", Kind::host, ""},
    Row{"torch:notenoughmemory", Kind::host, ""},
    Row{"buynewram", Kind::host, ""},
    Row{"posix_memalign", Kind::host, ""},
    Row{"memoryerror:unabletoallocate", Kind::host, ""},
    Row{"arraymemoryerror", Kind::host, ""},
    Row{"std::bad_alloc", Kind::host, ""},
    Row{"outofmemory:killedprocess", Kind::host_killed, ""},
    Row{"oom-kill", Kind::host_killed, ""},
    Row{"oom_kill", Kind::host_killed, ""},
    Row{"oomkilled", Kind::host_killed, ""},
    Row{"out-of-memoryhandler", Kind::host_killed, ""},
    Row{"killedbysignal", Kind::host_killed, ""},
    Row{"signal:killed", Kind::host_killed, ""},
    Row{"signal9", Kind::host_killed, ""},
    Row{"sigkill", Kind::host_killed, ""},
    Row{"exitcode137", Kind::host_killed, ""},
    Row{"exitcode:137", Kind::host_killed, ""},
    Row{"exitcode-9", Kind::host_killed, ""},
    Row{"exitcode:-9", Kind::host_killed, ""},
    Row{"cannotallocatememory", Kind::host, ""},
    Row{"cublas_status_alloc_failed", Kind::library, "cuBLAS"},
    Row{"cublas_status_not_initialized", Kind::library, "cuBLAS"},
    Row{"cudnn_status_alloc_failed", Kind::library, "cuDNN"},
    Row{"cudnn_status_not_initialized", Kind::library, "cuDNN"},
    Row{"cusolver_status_alloc_failed", Kind::library, "cuSOLVER"},
    Row{"cufft_alloc_failed", Kind::library, "cuFFT"},
    Row{"nccl", Kind::library, "NCCL"},
    Row{"cudaerror:outofmemory", Kind::driver, ""},
    Row{"hiperror:outofmemory", Kind::driver, ""},
    Row{"cudaruntimeerror(2)", Kind::driver, ""},
    Row{"error=2:outofmemory", Kind::driver, ""},
    Row{"cudaerrormemoryallocation", Kind::driver, ""},
    Row{"cuda_error_out_of_memory", Kind::driver, ""},
    Row{"hiperroroutofmemory", Kind::driver, ""},
    Row{"ur_result_error_out_of_device_memory", Kind::driver, ""},
    Row{"cudaoutofmemory", Kind::driver, ""},
    Row{"outofmemory", Kind::driver, ""},
};

// The amount behind the first of these words, where there is one.
std::optional<Amount> requested_in(const std::string& text) {
  for (const std::string_view words :
       {"youtriedtoallocate", "unabletoallocate", "tryingtoallocate", "outofmemoryallocating", "failedtoallocate",
        "cannotallocate", "buffer_type_alloc_buffer:allocating", "requestedbufferofsize", "triedtoallocate",
        "allocating"}) {
    const std::size_t at = text.find(words);
    if (at == std::string::npos) continue;
    const std::string_view behind = std::string_view(text).substr(at + words.size(), 64);
    if (auto found = amount_at(behind)) return found->amount;
    if (words == "requestedbufferofsize")  // bytes, without a unit
      if (const auto number = number_at(behind)) return exactly(number->value);
  }
  return std::nullopt;
}

// "OOM when allocating tensor with shape[64,2016,9,9] and type float".
std::optional<Amount> tensor_in(const std::string& text) {
  const std::size_t at = text.find("shape[");
  if (at == std::string::npos) return std::nullopt;
  double elements = 1;
  std::size_t next = at + 6;
  for (; next < text.size() && text[next] != ']'; ++next) {
    std::size_t end = next;
    double size = 0;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9' && end - next < 15)
      size = 10 * size + (text[end++] - '0');
    if (end == next) return std::nullopt;
    elements *= size;
    next = end;
    if (next >= text.size() || text[next] != ',') break;
  }
  const std::string_view behind = std::string_view(text).substr(std::min(next, text.size()), 24);
  const double element_bytes = behind.find("half") != behind.npos || behind.find("float16") != behind.npos   ? 2
                               : behind.find("double") != behind.npos || behind.find("int64") != behind.npos ? 8
                                                                                                             : 4;
  return exactly(elements * element_bytes);
}

const char* const kNotTheCard =
    "do not tune the card's allocator (max_split_size_mb, empty_cache): the card did not refuse";

void say_host(Kind kind, const std::string& text, Diagnosis& d) {
  d.cause = "host_memory";
  if (kind == Kind::host_killed) {
    d.title = "The system killed the process: the host's memory was used up (not the card's)";
    d.todo = {
        "look at the system's log (dmesg, the job's report) for how much the process held and what limit it hit",
        "load less at once: fewer loader workers, smaller prefetch, a memory-mapped or streamed data set; raise the "
        "job's memory limit",
        "end without such a line in the log: someone else, or a time limit, killed it"};
  } else if (kind == Kind::host_shared) {
    d.title = "The host's shared memory is used up (not the card's)";
    d.todo = {"give the container more of it (--shm-size, --ipc=host), or use fewer loader workers"};
  } else {
    d.title = "The host's memory is used up (not the card's)";
    d.todo = {
        "look at what is held on the host: the data set, pinned buffers times workers, a model loaded twice "
        "(checkpoint and module); load in parts",
        "check limits of the job or the container, and ulimit -v"};
    if (text.find("errorcode12") == std::string::npos && text.find("bad_alloc") != std::string::npos)
      d.todo.push_back("std::bad_alloc also comes from a size that is wrong (negative, uninitialised): print it");
  }
  d.avoid = {kNotTheCard};
}

void say_framework(const Row& row, Diagnosis& d) {
  d.cause = "other_backend";
  d.title = fmt::format("A message of {}, not of PyTorch", row.who);
  d.todo = {fmt::format("read it with {}'s own manual: its allocator has other rules and settings", row.who),
            "JAX and TensorFlow take most of the card at start: beside PyTorch, limit them "
            "(XLA_PYTHON_CLIENT_MEM_FRACTION, set_memory_growth)",
            "the order of questions is the same: who else is on the card, does the request fit at all, what is kept"};
  d.avoid = {"do not set PYTORCH_ALLOC_CONF: this framework does not read it"};
}

void say_runtime(const Row& row, Diagnosis& d) {
  d.cause = "host_memory";
  d.title = fmt::format("The heap of {} on the host is full (not the card's memory)", row.who);
  d.todo = {fmt::format("raise the heap limit of {}, or give it less to hold", row.who)};
  d.avoid = {kNotTheCard};
}

void say_library(const Row& row, const std::string& text, Diagnosis& d) {
  d.cause = "library_no_memory";
  d.title = fmt::format("{} could not start: usually no room is left on the card beside PyTorch's cache", row.who);
  d.todo = {
      "look at how much is free on the card at that moment: the library allocates outside the cache, and the cache may "
      "hold everything",
      "leave room: a smaller step, or set_per_process_memory_fraction(0.9), or one empty_cache before the library's "
      "first use",
      "if much is free, run with CUDA_LAUNCH_BLOCKING=1: an index out of range in an earlier kernel also ends like "
      "this"};
  if (text.find("not_initialized") != std::string::npos)
    d.todo.push_back("check that the driver fits the CUDA version");
  d.avoid = {"do not reinstall the library first"};
}

void say_driver(Diagnosis& d) {
  d.cause = "unknown";
  d.title = "Out of memory, without numbers: the driver refused something outside PyTorch's cache";
  d.todo = {"look at the card (nvidia-smi): is it full, and of whom? A context alone takes 0.3 to 1 GiB",
            "print mem_get_info() and memory_summary() right before the line that fails",
            "if the message comes at the first use of the card, others hold it, or the driver is in a bad state"};
  d.avoid = {"do not shrink the batch before these numbers are known: that is not step one"};
  d.unread = {"how much was requested, is free, allocated and reserved: the text does not say"};
}

// "Killed" is a word of its own line.
bool is_killed_line(std::string_view text) {
  std::size_t at = text.find("Killed");
  while (at != std::string_view::npos) {
    const bool starts = at == 0 || text[at - 1] == '\n' || text[at - 1] == ' ' || text[at - 1] == ':';
    const std::size_t end = at + 6;
    if (starts && (end >= text.size() || text[end] == '\n' || text[end] == '\r')) return true;
    at = text.find("Killed", at + 1);
  }
  return false;
}

}  // namespace

std::optional<Diagnosis> read_foreign(std::string_view original) {
  const std::string text = compact(without_decoration(original));
  const auto found = std::find_if(kRows.begin(), kRows.end(),
                                  [&text](const Row& row) { return text.find(row.words) != std::string::npos; });
  const bool killed = found == kRows.end() && is_killed_line(original);
  if (found == kRows.end() && !killed) return std::nullopt;
  const Row row = killed ? Row{"Killed", Kind::host_killed, ""} : *found;
  // These words are used elsewhere, too.
  if (row.kind == Kind::library && std::string_view(row.words) == "nccl" &&
      text.find("outofmemory") == std::string::npos)
    return std::nullopt;
  const bool on_host = row.kind == Kind::framework &&
                       (text.find("device:cpu") != std::string::npos || text.find("allocatorcpu") != std::string::npos);
  Diagnosis d;
  d.kind = "foreign";
  switch (row.kind) {
    case Kind::framework:
      say_framework(row, d);
      if (on_host) {
        say_host(Kind::host, text, d);
        d.title += fmt::format(": a message of {}", row.who);
      }
      break;
    case Kind::runtime:
      say_runtime(row, d);
      break;
    case Kind::host:
    case Kind::host_killed:
    case Kind::host_shared:
      say_host(row.kind, text, d);
      break;
    case Kind::library:
      say_library(row, text, d);
      break;
    case Kind::driver:
      say_driver(d);
      break;
  }
  d.evidence.push_back(fmt::format("the text holds \"{}\"", row.words));
  std::optional<Amount> requested = requested_in(text);
  if (!requested) requested = tensor_in(text);
  if (requested) {
    const Amount readable = exactly(requested->bytes);
    d.evidence.push_back(requested->unit == readable.unit
                             ? fmt::format("{} were requested", requested->text)
                             : fmt::format("{} were requested, which are {}", requested->text, readable.text));
    d.numbers.push_back({"requested_bytes", requested->bytes});
  }
  if (row.kind != Kind::driver)
    d.unread.push_back("everything but the kind of the message and the size of the request");
  return d;
}

}  // namespace labrig::triage
