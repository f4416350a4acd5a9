// How a refused request is diagnosed: the first rule of kRules that applies decides, so each may rely on the ones
// before it. The words are those of the core's own verdict (labrig/memory.hpp). The core knows its numbers to the byte;
// a message has two decimals, may lack any of them, and is written by a process that may not know its own number.
//
//   Q request   T total   F free   A allocated   R reserved = A + U   U unallocated   P this process   L limit
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "triage/advice.hpp"
#include "triage/shortage_figures.hpp"

namespace labrig::triage {
namespace {

constexpr double kGib = 1073741824.0;
constexpr double kNegative = 9223372036854775808.0;  // 2^63: from here a size is a negative number
// A context with its libraries takes up to about 1.5 GiB of a card; more than this, and more than a quarter of the
// card, is somebody.
constexpr double kMoreThanAContext = 2 * kGib;
constexpr double kShareOfTheCard = 0.25;
// A card of which less is free is full, whatever the request: the driver needs some room of its own.
constexpr double kFull = 0.01;
// Less of the cache than this lies in pieces in any training: it decides nothing.
constexpr double kPieces = 0.05, kManyPieces = 0.10;

// --- what each rule says ------------------------------------------------------------------------------------------

void say_overflow(const Figures& f, Diagnosis& d) {
  const double signed_bytes = f.s.requested->bytes - 2 * kNegative;
  d.title = "The size is no size: the computation of it overflowed";
  d.evidence.push_back(fmt::format(
      "{} were requested; 2^64 bytes are {}, so read as a signed number this is about {}", f.s.requested->text,
      size_in(2 * kNegative, f.s.requested->unit),
      size_in(std::round(signed_bytes / 1048576) * 1048576, std::abs(signed_bytes) < kGib ? "MiB" : "GiB")));
  d.todo = {
      "look for the shape or the count that this size was computed from: a negative number, or a product beyond 64 "
      "bits (also inside a library, for example a convolution's workspace on a very large image)",
      "where a library computed it, try a smaller image or another algorithm, and report it as a bug there"};
  d.avoid = {"do not shrink the batch step by step or free memory: no amount of memory satisfies this request"};
}

void say_limit(const Figures& f, Diagnosis& d) {
  d.title = "A limit of this process refuses, not the card";
  if (f.s.one_block && f.s.requested->bytes > f.s.one_block->bytes) {
    d.evidence.push_back(fmt::format("{} were requested in one block; this platform gives blocks of at most {}",
                                     f.s.requested->text, f.s.one_block->text));
    d.todo = {"split the tensor or the operator that asks for it, so that no block is larger than the platform allows",
              "look in the manual of the back end for a setting that lifts this limit"};
    d.avoid = {"do not free other tensors for it: the size of the one block is what is refused"};
    return;
  }
  if (f.s.other_allocations) {
    d.evidence.push_back(fmt::format("{} allocated + {} other allocations + {} requested = {}, and {} are allowed",
                                     f.s.allocated->text, f.s.other_allocations->text, f.s.requested->text,
                                     f.in(f.s.reserved->bytes + f.s.requested->bytes), f.s.allowed->text));
  } else {
    d.evidence.push_back(fmt::format("the limit in force: {} reserved + {} requested = {}, and {} are allowed",
                                     f.s.reserved->text, f.s.requested->text,
                                     f.in(f.s.reserved->bytes + f.s.requested->bytes), f.s.allowed->text));
    if (f.s.free)
      d.evidence.push_back(fmt::format("the card would have had room: {} free against {} requested", f.s.free->text,
                                       f.s.requested->text));
  }
  if (f.s.backend == "MPS") {
    d.todo = {"free what is not needed, or make the work smaller: on a Mac this memory is the system's own"};
    d.avoid = {"do not lift the limit first (PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0): the system may fail with it"};
  } else {
    d.todo = {
        "raise or remove the limit: set_per_process_memory_fraction, or per_process_memory_fraction in "
        "PYTORCH_ALLOC_CONF",
        "if the limit is wanted, make the work smaller"};
    d.avoid = {"do not look for other processes or for fragmentation: the refusal came before the driver was asked"};
  }
}

void say_refused(const Figures& f, Diagnosis& d) {
  d.title = "Refused although enough is free";
  d.evidence.push_back(fmt::format("free {} >= requested {}: a shortage on the card cannot be the cause",
                                   f.s.free->text, f.s.requested->text));
  if (f.s.allowed) d.evidence.push_back(fmt::format("the limit of {} would have let it through", f.s.allowed->text));
  if (f.s.reserved && f.s.reserved->bytes == 0) {
    d.evidence.push_back(
        "PyTorch holds nothing (0 bytes allocated, 0 bytes unallocated): no setting of PyTorch can help");
  } else if (f.s.unallocated && f.s.unallocated->bytes < f.s.requested->bytes) {
    d.evidence.push_back(fmt::format("unallocated in the cache {} < requested {}: the cache cannot be the cause",
                                     f.s.unallocated->text, f.s.requested->text));
  } else if (f.s.unallocated) {
    d.evidence.push_back(fmt::format(
        "the cache also has {} unallocated; with {} free the driver could have given a new segment, so pieces in the "
        "cache are not the cause",
        f.s.unallocated->text, f.s.free->text));
  }
  for (const std::string& contradiction : f.contradictions)
    d.evidence.push_back("the numbers contradict: " + contradiction);
  d.todo = {
      "repeat the request alone in a fresh process, with nvidia-smi (or its like) open: if it fails there too, "
      "PyTorch is not part of the problem",
      "look for a limit outside this program: a slice of a card (MIG, vGPU), a container's or a job's limit, ulimit "
      "-v, the host's memory or page file (a driver on Windows needs as much of it), the number of mappings "
      "(vm.max_map_count)",
      "look whether another process came and went: `free` is read after the refusal"};
  d.avoid = {
      "do not set max_split_size_mb or expandable_segments and do not call empty_cache for it: fragmentation is "
      "not the cause",
      "do not shrink the batch first: more is free than was asked for"};
}

void say_never_fits(const Figures& f, Diagnosis& d) {
  d.title = "The card is too small: this one request is larger than the whole card";
  d.evidence.push_back(fmt::format("requested {} > total {}", f.s.requested->text, f.s.total->text));
  for (const std::string& contradiction : f.contradictions) d.evidence.push_back(contradiction);
  d.todo = {
      "look at the shape of the tensor that is asked for: often an axis was not reduced, a full attention matrix is "
      "built, or an image was not scaled down",
      "if the shape is meant, process the data in parts"};
  d.avoid = {"do not free other tensors or change allocator settings: an empty card would refuse as well"};
}

void say_fragmentation(const Figures& f, Diagnosis& d) {
  d.title = "Fragmentation: enough is there, but in pieces";
  const double together = f.s.free->bytes + f.s.unallocated->bytes;
  d.evidence.push_back(fmt::format("unallocated in the cache {} {} requested {}, and free {} < requested {}",
                                   f.s.unallocated->text, f.s.unallocated->bytes >= f.s.requested->bytes ? ">=" : "<",
                                   f.s.requested->text, f.s.free->text, f.s.requested->text));
  d.evidence.push_back(fmt::format("free + unallocated = {} + {} = {}: together enough, in one piece nowhere",
                                   f.number(f.s.free->bytes), f.number(f.s.unallocated->bytes), f.in(together)));
  if (f.s.private_pools && f.s.private_pools->bytes > 0)
    d.evidence.push_back(
        fmt::format("{} lie in private pools (graphs), which other requests cannot use", f.s.private_pools->text));
  d.todo = {
      "set PYTORCH_ALLOC_CONF=expandable_segments:True (PYTORCH_CUDA_ALLOC_CONF in older releases) before the "
      "program starts; where that does not work, max_split_size_mb",
      "allocate the large and the odd sizes first, and keep shapes fixed (pad, or sort by length)",
      "find the small tensors that live long and keep large segments split (memory_snapshot)"};
  d.avoid = {
      "do not call empty_cache each step: it cannot return a segment of which a part is in use, and slows the loop",
      "do not shrink the batch first: the memory is there"};
}

void say_other_library(const Figures& f, Diagnosis& d) {
  d.title = "This process itself holds much memory that is not PyTorch's";
  d.evidence.push_back(fmt::format("this process {} - PyTorch {} = {} of another library",
                                   f.number(f.s.this_process->bytes), f.number(f.s.reserved->bytes),
                                   f.in(*f.own_outside)));
  d.todo = {
      "find the library in this process that takes it: another framework that reserves the card (JAX, TensorFlow), "
      "an inference engine, communication buffers; limit it or start it in a process of its own"};
  d.avoid = {"do not tune PyTorch's cache or the batch first: what is taken is not in the cache"};
}

void say_shared(const Figures& f, Diagnosis& d) {
  d.title = "The card is shared: others hold what is missing";
  if (f.s.free && f.s.requested)
    d.evidence.push_back(fmt::format("free {} of the card's {}, and {} were requested", f.s.free->text, f.s.total->text,
                                     f.s.requested->text));
  d.todo = {
      "see who it is (nvidia-smi; also a forgotten process of your own, a notebook, a zombie after a crash) and wait "
      "for them, end your own ones, or choose another card",
      "check that the device number is the card that you mean"};
  d.avoid = {"do not shrink the batch first: it is a red herring, the memory is not yours to free",
             "do not tune allocator settings: what others hold is not in this cache"};
}

void say_capacity(const Figures& f, Diagnosis& d) {
  d.title = "Capacity: what lives on the card and this request do not fit";
  if (f.s.free && f.s.requested)
    d.evidence.push_back(fmt::format("free {} < requested {}", f.s.free->text, f.s.requested->text));
  if (f.s.allocated && f.s.total)
    d.evidence.push_back(fmt::format("tensors hold {} of the card's {} ({:.0f} %)", f.s.allocated->text,
                                     f.s.total->text, 100 * f.s.allocated->bytes / f.s.total->bytes));
  if (f.s.unallocated && f.s.free && f.s.requested) {
    const double together = f.s.free->bytes + f.s.unallocated->bytes;
    if (together < f.s.requested->bytes)
      d.evidence.push_back(fmt::format(
          "free + unallocated = {} + {} = {} < requested {}: also in one piece it would not do",
          f.number(f.s.free->bytes), f.number(f.s.unallocated->bytes), f.in(together), f.s.requested->text));
    else if (f.s.reserved->bytes > 0)
      d.evidence.push_back(
          fmt::format("only {} ({:.1f} % of what is reserved) lie in pieces: that is usual and not the cause",
                      f.s.unallocated->text, 100 * f.s.unallocated->bytes / f.s.reserved->bytes));
  }
  for (const std::string& contradiction : f.contradictions) d.evidence.push_back(contradiction);
  d.todo = capacity_advice();
  d.avoid = {"do not call empty_cache: unused segments were given back before the request failed",
             "do not set max_split_size_mb or expandable_segments and expect it to fit: the cache holds no reserve"};
}

void say_unknown(const Figures& f, Diagnosis& d) {
  d.title = "Out of memory; the numbers that would say why are missing";
  if (f.s.requested) d.evidence.push_back(fmt::format("{} were requested", f.s.requested->text));
  if (f.s.total && f.s.requested)
    d.evidence.push_back(fmt::format("the card has {}, so the request alone is not too large", f.s.total->text));
  d.todo = {"read the whole message: it says how much is free, allocated and reserved",
            "look at the card while the program runs (nvidia-smi): are others on it?",
            "catch the error and print memory_summary()"};
  d.avoid = {"do not shrink the batch before these numbers are known: that is not step one"};
}

// --- the rules ----------------------------------------------------------------------------------------------------

bool is_fragmented(const Figures& f) {
  if (!f.s.requested || !f.s.free || !f.s.unallocated || !f.s.reserved || f.s.reserved->bytes <= 0) return false;
  const double q = f.s.requested->bytes, u = f.s.unallocated->bytes, share = u / f.s.reserved->bytes;
  if (u >= q) return share >= kPieces;
  return f.s.free->bytes + u >= q && u >= q / 2 && share >= kManyPieces;
}

bool matters(const Figures& f, const std::optional<double>& held) {
  if (!held || !f.s.total || *held < kShareOfTheCard * f.s.total->bytes) return false;
  if (f.s.requested && f.s.free && *held + f.s.free->bytes < f.s.requested->bytes) return false;
  return *held >= kMoreThanAContext || (f.s.reserved && *held > f.s.reserved->bytes);
}

// Others have filled the card; that some 20 MiB are still free beside a request of 20 MiB changes nothing.
bool others_fill_the_card(const Figures& f) {
  return f.s.free && f.s.total && f.s.free->bytes < kFull * f.s.total->bytes && matters(f, f.others);
}

bool capacity_shows(const Figures& f) {
  if (f.s.free && f.s.requested && f.s.allocated) return true;
  // Cut texts: what is known may still be enough.
  if (f.s.allocated && f.s.total && f.s.requested)
    return f.s.allocated->bytes + f.s.requested->bytes > f.s.total->bytes;
  return f.s.allocated && f.s.total && f.s.allocated->bytes > 0.85 * f.s.total->bytes;
}

bool limit_refuses(const Figures& f) {
  if (f.s.one_block && f.s.requested && f.s.requested->bytes > f.s.one_block->bytes) return true;
  return f.beyond_limit() && (!f.s.free || f.enough_is_free());
}

struct Rule {
  const char* cause;
  bool (*applies)(const Figures&);
  void (*say)(const Figures&, Diagnosis&);
};
constexpr std::array kRules = {
    // A size of 2^63 bytes and more is a negative number.
    Rule{"overflow", [](const Figures& f) { return f.s.requested && f.s.requested->bytes >= kNegative; }, say_overflow},
    // The limit in force: R + Q > L while the card has room.
    Rule{"limit", limit_refuses, say_limit},
    // F next to nothing, and others hold what is missing.
    Rule{"shared", others_fill_the_card, say_shared},
    // F >= Q. No shortage at all, and so neither capacity nor pieces nor others.
    Rule{"refused", [](const Figures& f) { return f.enough_is_free(); }, say_refused},
    // Q > T.
    Rule{"capacity", [](const Figures& f) { return f.never_fits(); }, say_never_fits},
    // F < Q <= U, or F and U together, with more in pieces than any training has.
    Rule{"fragmentation", is_fragmented, say_fragmentation},
    // P - R: a quarter of the card and more than a context, and without it Q would fit.
    Rule{"other_library", [](const Figures& f) { return f.s.this_process && matters(f, f.own_outside); },
         say_other_library},
    // T - F - P, or T - F - R where P is not known: the same of other processes.
    Rule{"shared", [](const Figures& f) { return matters(f, f.others); }, say_shared},
    // The rest: tensors fill the card.
    Rule{"capacity", capacity_shows, say_capacity},
    Rule{"unknown", [](const Figures&) { return true; }, say_unknown},
};

// --- what is said under every cause ----------------------------------------------------------------------------------

// Where the memory is that is neither free nor in the cache. Never a negative number.
void say_where_the_rest_is(const Figures& f, Diagnosis& d) {
  if (f.s.other_allocations || d.cause == "overflow") return;
  if (!f.our_pid.empty())
    d.evidence.push_back(fmt::format(
        "\"Process {}\" is most likely this very process under its number outside the container: {} listed + {} of "
        "PyTorch would exceed the {} that are taken",
        f.our_pid, f.s.this_process->text, f.in(f.s.reserved->bytes), f.in(f.s.total->bytes - f.s.free->bytes)));
  if (f.own_outside && d.cause != "other_library")
    d.evidence.push_back(
        fmt::format("this process {} - PyTorch {} = {} of this process that are not PyTorch's (the "
                    "context, other libraries)",
                    f.number(f.s.this_process->bytes), f.number(f.s.reserved->bytes), f.in(*f.own_outside)));
  if (f.s.this_process && f.others) {
    d.evidence.push_back(fmt::format("total {} - free {} - this process {} = {} of other processes",
                                     f.number(f.s.total->bytes), f.number(f.s.free->bytes),
                                     f.number(f.s.this_process->bytes), f.in(*f.others)));
  } else if (f.outside) {
    d.evidence.push_back(fmt::format(
        "total {} - reserved {} - free {} = {} outside this cache ({})", f.number(f.s.total->bytes),
        f.number(f.s.reserved->bytes), f.number(f.s.free->bytes), f.in(*f.outside),
        d.cause == "shared"              ? "far more than a context: other processes"
        : *f.outside > kMoreThanAContext ? "more than one context: other processes have a part, with several ranks "
                                           "often their contexts on this one card"
                                         : "this process's context and whatever else is on the card"));
  }
  for (const ListedProcess& process : f.s.processes) {
    if (process.pid == f.our_pid) continue;
    if (process.bytes && process.bytes->bytes > 0)
      d.evidence.push_back(fmt::format("process {} holds {}", process.pid, process.bytes->text));
    else
      d.unread.push_back(fmt::format("how much process {} holds: the driver does not tell (\"{}\")", process.pid,
                                     process.bytes ? process.bytes->text : "no number"));
  }
}

void say_what_the_segment_is(const Figures& f, Diagnosis& d) {
  if (!f.s.requested || (f.s.backend != "CUDA" && f.s.backend != "HIP")) return;
  if (f.s.requested->bytes == 20 * 1048576.0)
    d.evidence.push_back(
        "20.00 MiB is the segment for any tensor between 1 and 10 MiB: the tensor itself may be small");
  if (f.s.requested->bytes == 2 * 1048576.0)
    d.evidence.push_back("2.00 MiB is the segment for any tensor of up to 1 MiB: the tensor itself may be tiny");
}

void say_what_the_summary_adds(const Figures& f, Diagnosis& d) {
  if (f.s.retries && *f.s.retries > 0)
    d.evidence.push_back(
        fmt::format("the cache was flushed {} times already (cudaMalloc retries): empty_cache can add "
                    "nothing",
                    *f.s.retries));
}

void list_what_is_missing(const Figures& f, Diagnosis& d) {
  const auto missing = [&d](const std::optional<Amount>& amount, const char* name) {
    if (!amount) d.unread.push_back(std::string(name) + ": not in the text");
  };
  missing(f.s.requested, "the size of the request");
  if (f.s.backend == "MPS") {
    missing(f.s.allowed, "the limit");
    return;
  }
  missing(f.s.total, "the card's total memory");
  missing(f.s.free, "the card's free memory");
  missing(f.s.allocated, "what tensors hold (allocated)");
  missing(f.s.reserved, "what the cache holds (reserved)");
}

void add_numbers(const Figures& f, Diagnosis& d) {
  const auto add = [&d](const std::optional<Amount>& amount, const char* name) {
    if (amount) d.numbers.push_back({name, amount->bytes});
  };
  add(f.s.requested, "requested_bytes");
  add(f.s.total, "total_bytes");
  add(f.s.free, "free_bytes");
  add(f.s.allocated, "allocated_bytes");
  add(f.s.reserved, "reserved_bytes");
  add(f.s.unallocated, "unallocated_bytes");
  add(f.s.this_process, "this_process_bytes");
  add(f.s.allowed, "allowed_bytes");
  if (f.outside) d.numbers.push_back({"outside_bytes", *f.outside});
}

}  // namespace

Diagnosis diagnose(Shortage shortage) {
  const Figures figures(std::move(shortage));
  Diagnosis diagnosis;
  diagnosis.kind = "message";
  for (const Rule& rule : kRules) {
    if (!rule.applies(figures)) continue;
    diagnosis.cause = rule.cause;
    rule.say(figures, diagnosis);
    break;
  }
  say_where_the_rest_is(figures, diagnosis);
  say_what_the_segment_is(figures, diagnosis);
  say_what_the_summary_adds(figures, diagnosis);
  list_what_is_missing(figures, diagnosis);
  add_numbers(figures, diagnosis);
  return diagnosis;
}

}  // namespace labrig::triage
