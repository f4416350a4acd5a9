// For students: derive a class from your lab's interface and name it in one macro line.
//
//   #include "interface.hpp"               // the lab's: it includes this header
//   class Mine : public transfer_cost::Submission { … };
//   LABRIG_SUBMISSION(Mine)
#pragma once

#include "labrig/plugin.hpp"

namespace labrig {

// Base of every lab's interface class:
//   class Submission : public labrig::SubmissionBase<Submission> {
//    public:
//     static constexpr std::string_view lab_id = "transfer-cost";
template <class Interface>
class SubmissionBase {
 public:
  using LabrigInterface = Interface;
  SubmissionBase() = default;
  SubmissionBase(const SubmissionBase&) = delete;
  SubmissionBase& operator=(const SubmissionBase&) = delete;
  virtual ~SubmissionBase() = default;
};

}  // namespace labrig

#define LABRIG_SUBMISSION(Type)                                                                  \
  namespace {                                                                                    \
  __attribute__((section(LABRIG_MANIFEST_SECTION), used)) constexpr auto labrig_manifest =       \
      ::labrig::plugin::make_manifest<typename Type::LabrigInterface, LABRIG_SUBMISSION_KIND>(); \
  }                                                                                              \
  extern "C" __attribute__((visibility("default"), used)) const labrig_plugin_v1 labrig_plugin = \
      ::labrig::plugin::make_entry<typename Type::LabrigInterface, Type, LABRIG_SUBMISSION_KIND>();
