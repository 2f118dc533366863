#pragma once
// NVTX ranges that last as long as their objects: annotations in the default domain, operators in a domain of theirs.
#include <vector>

#include "app/workload/operator_text.h"

namespace gapscope::workload {

class Annotation {
 public:
  explicit Annotation(const std::string& name);
  ~Annotation();
  Annotation(const Annotation&) = delete;
  Annotation& operator=(const Annotation&) = delete;
};

class Operator {
 public:
  Operator(const char* name, const std::vector<OperatorInput>& inputs);
  ~Operator();
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;
};

}  // namespace gapscope::workload
