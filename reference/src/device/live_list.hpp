// What is alive on a device, in the order in which it came, for the one question "who keeps this block?". Coming and
// going costs a lock and two pointers.
#pragma once

#include <mutex>

namespace labrig {

// The base of what a list can hold.
struct LiveLink {
  LiveLink* before = nullptr;
  LiveLink* after = nullptr;
};

class LiveList {
 public:
  LiveList() { ends_.before = ends_.after = &ends_; }
  LiveList(const LiveList&) = delete;
  LiveList& operator=(const LiveList&) = delete;

  void add(LiveLink& link) {
    const std::lock_guard lock(mutex_);
    link.before = ends_.before;
    link.after = &ends_;
    link.before->after = &link;
    ends_.before = &link;
  }
  void remove(LiveLink& link) {
    const std::lock_guard lock(mutex_);
    link.before->after = link.after;
    link.after->before = link.before;
  }
  // `visit` must not end a member: that would wait for the lock.
  template <class Visit>
  void for_each(Visit&& visit) {
    const std::lock_guard lock(mutex_);
    for (LiveLink* link = ends_.after; link != &ends_; link = link->after) visit(*link);
  }

 private:
  std::mutex mutex_;
  LiveLink ends_;
};

}  // namespace labrig
