// Opens other libraries, which no submission may.
#include <dlfcn.h>

#include "broken.hpp"

class Opens : public broken::Scale {
 public:
  Opens() : library_(dlopen("libc.so.6", RTLD_NOW)) {}

 private:
  void* library_;
};

LABRIG_SUBMISSION(Opens)
