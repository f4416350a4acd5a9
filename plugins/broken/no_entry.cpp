// The manifest is there, the entry symbol is not.
#include "broken.hpp"

BROKEN_MANIFEST(scale::Submission)
