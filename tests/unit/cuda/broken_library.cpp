// Shared libraries that the loader must refuse (loader_test.cpp); see CMakeLists.txt for what each is made into.
#include "backends/cuda/entry.hpp"

#ifdef LABRIG_TEST_NEEDS
// Refers to a library that is not there when this one is loaded.
extern "C" int labrig_test_symbol();
extern "C" LABRIG_API int labrig_test_entry() { return labrig_test_symbol(); }
#elif defined(LABRIG_TEST_DEFINES)
// That library, there when the one above is linked.
extern "C" LABRIG_API int labrig_test_symbol() { return 0; }
#else
// The entry of a labrig that never was.
extern "C" LABRIG_API const labrig::cuda::Entry* labrig_cuda_entry() {
  static const labrig::cuda::Entry entry{"another build", nullptr, nullptr};
  return &entry;
}
#endif
