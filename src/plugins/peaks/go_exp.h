// e^x as Go's math.Exp computes it on amd64 with fused multiplication and addition: costs are cut
// off after fifteen decimals, so the last bits show.
#pragma once

namespace berth::plugins::peaks {

double GoExp(double x);

}  // namespace berth::plugins::peaks
