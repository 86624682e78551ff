// What other rules would have changed, as text of 80 columns and as one HTML page with charts.
#pragma once

#include <string>
#include <vector>

#include "history/difference.h"

namespace berth::cli {

std::string DifferenceText(const history::Difference& difference, bool colour);
// Loads nothing from elsewhere.
std::string DifferencePage(const history::Difference& difference);

// The header and the rows of the table of node pools; costs only with prices.
std::vector<std::string> PoolHeader(const history::Difference& difference);
std::vector<std::vector<std::string>> PoolRows(const history::Difference& difference);

// A figure in its unit: "1.25s", "63.1%", "12,345". `delta`: with a sign.
std::string FigureText(const history::Figure& figure, double value, bool delta);

}  // namespace berth::cli
