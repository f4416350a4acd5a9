#include "worker/signals.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace labrig::worker {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr std::uint32_t kFirstForeignCall = 0x4000'0000;  // the x32 numbers of the same calls
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t kFirstForeignCall = 0x4000'0000;
#endif

sock_filter load(std::size_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
sock_filter jump(std::uint16_t condition, std::uint32_t value, std::uint8_t if_true, std::uint8_t if_false) {
  return BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | condition | BPF_K), value, if_true, if_false);
}
sock_filter answer(std::uint32_t what) { return BPF_STMT(BPF_RET | BPF_K, what); }

std::vector<sock_filter> filter(std::uint32_t own_pid) {
  constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
  std::vector<sock_filter> program = {
      load(offsetof(seccomp_data, arch)), jump(BPF_JEQ, kArchitecture, 1, 0),     answer(kRefuse),
      load(offsetof(seccomp_data, nr)),   jump(BPF_JGE, kFirstForeignCall, 0, 1), answer(kRefuse)};
  for (const long call :
       {SYS_pidfd_send_signal, SYS_pidfd_getfd, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev})
    program.insert(program.end(), {jump(BPF_JEQ, static_cast<std::uint32_t>(call), 0, 1), answer(kRefuse)});
  // Those that name a process first. Its number is an int: the low half of the argument.
  for (const long call : {SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo})
    program.insert(program.end(),
                   {jump(BPF_JEQ, static_cast<std::uint32_t>(call), 0, 4), load(offsetof(seccomp_data, args)),
                    jump(BPF_JEQ, own_pid, 0, 1), answer(SECCOMP_RET_ALLOW), answer(kRefuse)});
  program.push_back(answer(SECCOMP_RET_ALLOW));
  return program;
}

}  // namespace

void keep_signals_to_itself() {
  std::vector<sock_filter> program = filter(static_cast<std::uint32_t>(::getpid()));
  const sock_fprog all = {static_cast<unsigned short>(program.size()), program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  // SPEC_ALLOW: the kernel must not slow the process down against attacks that this filter is not about.
  ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &all);
}

}  // namespace labrig::worker
