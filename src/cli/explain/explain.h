// berth explain: why a pod is where it is, or nowhere.
#pragma once

#include <string>
#include <vector>

namespace berth::cli {

int Explain(const std::vector<std::string>& args);

}  // namespace berth::cli
