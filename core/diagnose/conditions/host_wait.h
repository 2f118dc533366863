#pragma once
// What findings say of a GPU that waits for the host's own work, as the time account has it.
#include <string>

#include "core/analyze/account/time_account.h"
#include "core/analyze/practices/remedy.h"
#include "core/diagnose/facts.h"

namespace gapscope {

// " For 680 µs it waited for the host: 301 µs in operators, ...": what follows busy_sentence().
std::string host_wait_sentence(const Facts& facts, const AccountTimes& times);
// Of the largest of the host's parts.
Advice host_wait_remedy(const Facts& facts, const AccountTimes& times);

}  // namespace gapscope
