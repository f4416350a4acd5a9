// A worker runs a stranger's code as the user who grades: it must not stop or kill the processes that judge it.
#pragma once

namespace labrig::worker {

// From now on this process, its threads and its children can send signals to this process only, and cannot trace
// another or touch its memory; the calls fail with EPERM. Does nothing where the kernel has no seccomp filters: the
// whole sandbox is another matter.
void keep_signals_to_itself();

}  // namespace labrig::worker
