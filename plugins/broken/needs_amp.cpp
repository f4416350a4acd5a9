// Has labrig::amp loaded with it without a call that shows (CMakeLists.txt): it would be there for the taking.
#include "broken.hpp"

LABRIG_SUBMISSION(broken::Scale)
