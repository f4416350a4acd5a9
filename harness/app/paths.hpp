// Where labrig's own parts lie, found from the place of the program; main.cpp alone calls this.
#pragma once

#include <string>

#include "commands.hpp"

namespace labrig::app {

// A context with everything that does not depend on the command line.
Context make_context();
// Fills context.labs; `folder` is the value of --labs, empty when it was not given. Throws Error `no-such-folder` when
// a folder that was asked for does not exist.
void find_labs(Context& context, const std::string& folder);

}  // namespace labrig::app
