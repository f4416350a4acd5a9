// Nothing is wrong with this one: it reaches the top of the ladder, and others are made from it.
#include "broken.hpp"

LABRIG_SUBMISSION(broken::Scale)
