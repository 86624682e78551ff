// Names of plugins as headings of columns.
#pragma once

#include <string>

namespace berth::cli {

// "Fit" of NodeResourcesFit; of plugins that are not in-tree the first ten letters.
std::string ShortPluginName(const std::string& plugin);

}  // namespace berth::cli
