#pragma once
// What to record instead, where that comes before anything else: of a start, of a cut file, of a graph's capture, of launches
// that wait.
#include <string_view>

#include "core/diagnose/diagnose.h"
#include "core/diagnose/trust.h"
#include "core/diagnose/verdict.h"
#include "core/trace/trace.h"

namespace gapscope {

// Empty where it does not.
std::string_view record_again(const Trace& trace, const Trust& trust, Bound bound);
std::string_view record_again(const Trace& trace, const Diagnosis& diagnosis);

}  // namespace gapscope
