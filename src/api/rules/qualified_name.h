// The rules for names of labels and resources ("example.com/gpu") and for values of labels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::api {

// [PREFIX/]NAME: the prefix is a DNS subdomain, the name has at most 63 of [-A-Za-z0-9_.] and
// begins and ends with a letter or digit.
bool IsQualifiedName(std::string_view text);
// Empty, or of the form of the name above.
bool IsLabelValue(std::string_view text);

// Kubernetes' error messages. Empty if the value is valid.
std::vector<std::string> QualifiedNameErrors(std::string_view text);
std::vector<std::string> LabelValueErrors(std::string_view text);
// Such a message, or one made of them, in the words of Kubernetes 1.35 and later.
std::string InLaterWords(std::string message);

}  // namespace berth::api
