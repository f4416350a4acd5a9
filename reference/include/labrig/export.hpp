// What a plugin may link to. Everything else in the core's shared libraries has hidden visibility.
#pragma once

#define LABRIG_API __attribute__((visibility("default")))
