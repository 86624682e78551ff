#include "server/endpoints/zpages.h"

#include <cctype>
#include <ctime>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/codec/yaml_writer.h"
#include "api/go/go_text.h"
#include "api/time.h"
#include "server/endpoints/accept.h"

namespace berth::server {
namespace {

constexpr std::string_view kPlain = "text/plain; charset=utf-8";
constexpr std::string_view kGroup = "config.k8s.io";

// What the pages of a release are like.
struct Style {
  // Versions of the objects that can be asked for; none: text only.
  std::vector<std::string_view> versions = {};
  std::vector<std::string_view> deprecated = {};
  bool yaml = false;  // the objects are written as YAML, too
  std::string_view flagz_title;
  std::string_view negotiated_text = kPlain;  // the content type of text that was asked for
  // The media types listed in the refusal of a client that accepts none.
  std::string_view accepted = {};
};

const Style& StyleOf(config::Release release) {
  static const Style kStyles[] = {
      {.flagz_title = "flags"},
      {.versions = {"v1alpha1"},
       .flagz_title = "flagz",
       .negotiated_text = "text/plain",
       .accepted = "application/json, application/yaml, application/vnd.kubernetes.protobuf, "
                   "text/plain"},
      {.versions = {"v1alpha1", "v1beta1"},
       .deprecated = {"v1alpha1"},
       .yaml = true,
       .flagz_title = "flagz",
       .accepted = "application/json, application/yaml, text/plain"},
      {.versions = {"v1alpha1", "v1beta1"},
       .deprecated = {"v1alpha1"},
       .yaml = true,
       .flagz_title = "flagz",
       .accepted = "application/json, application/yaml, text/plain"},
  };
  return kStyles[static_cast<size_t>(release)];
}

bool Contains(const std::vector<std::string_view>& list, std::string_view value) {
  for (const std::string_view item : list) {
    if (item == value) return true;
  }
  return false;
}

enum class Format : uint8_t { kText, kJson, kYaml };

struct Choice {
  Format format = Format::kText;
  std::string_view version = {};
  bool pretty = false;
};

// People's programs get indented JSON.
bool IsPretty(const Request& request, const AcceptClause* clause) {
  if (clause != nullptr && clause->Parameter("pretty") == "1") return true;
  const auto values = QueryValues(request.query, "pretty");
  if (!values.empty() && !values.front().empty()) {
    const std::string& value = values.front();
    return value == "1" || value == "t" || value == "T" || value == "true" || value == "TRUE" ||
           value == "True";
  }
  const std::string_view agent = request.Header("user-agent");
  return agent.starts_with("curl") || agent.starts_with("Wget") || agent.starts_with("Mozilla/5.0");
}

bool Matches(const AcceptClause& clause, std::string_view type, std::string_view subtype) {
  if (clause.type == "*" && clause.subtype == "*") return true;
  return clause.type == type && (clause.subtype == subtype || clause.subtype == "*");
}

bool NamesObject(const AcceptClause& clause) {
  return !clause.Parameter("v").empty() || !clause.Parameter("as").empty() ||
         !clause.Parameter("g").empty();
}

// What a clause asks for, of a page whose objects are of `kind`.
std::optional<Choice> ChoiceOf(const AcceptClause& clause, const Style& style,
                               std::string_view kind) {
  if (!clause.Parameter("stream").empty() || !clause.Parameter("sv").empty()) return std::nullopt;
  const std::string_view version = clause.Parameter("v");
  const bool as_object = clause.Parameter("as") == kind && clause.Parameter("g") == kGroup &&
                         Contains(style.versions, version);
  if (as_object && Matches(clause, "application", "json")) return Choice{Format::kJson, version};
  if (as_object && Matches(clause, "application", "yaml")) return Choice{Format::kYaml, version};
  if (!NamesObject(clause) && Matches(clause, "text", "plain")) return Choice{Format::kText};
  return std::nullopt;
}

std::optional<Choice> Negotiate(const Request& request, const Style& style, std::string_view kind) {
  const std::string_view accept = request.Header("accept");
  if (TrimBlanks(accept).empty()) return Choice{};
  for (const AcceptClause& clause : ParseAccept(accept)) {
    if (auto choice = ChoiceOf(clause, style, kind)) {
      choice->pretty = IsPretty(request, &clause);
      return choice;
    }
  }
  return std::nullopt;
}

// The same JSON with a line for each value, indented by two blanks.
std::string IndentJson(std::string_view json) {
  std::string out;
  size_t depth = 0;
  const auto line = [&] { out.append("\n").append(2 * depth, ' '); };
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (quoted) {
      out += c;
      if (c == '\\') out += json[++i];
      quoted = c != '"';
    } else if (c == '{' || c == '[') {
      out += c;
      if (json[i + 1] == c + 2) continue;  // empty, as '}' and ']' are two behind
      ++depth;
      line();
    } else if (c == '}' || c == ']') {
      if (json[i - 1] != c - 2) {
        --depth;
        line();
      }
      out += c;
    } else if (c == ',') {
      out += c;
      line();
    } else {
      out += c;
      if (c == ':') out += ' ';
      quoted = c == '"';
    }
  }
  return out;
}

std::string Written(const std::string& json, bool pretty) {
  return pretty ? IndentJson(json) : json + "\n";
}

Response Object(const Choice& choice, const Style& style, std::string_view kind,
                std::string_view page, const std::string& json) {
  Response response;
  if (Contains(style.deprecated, choice.version)) {
    response.Set("Warning", fmt::format("299 - \"This version of the {} endpoint is deprecated. "
                                        "Please use a newer version.\"",
                                        page));
  }
  const bool yaml = choice.format == Format::kYaml;
  response.Set("Content-Type", fmt::format("application/{};g={};v={};as={}", yaml ? "yaml" : "json",
                                           kGroup, choice.version, kind));
  response.body = yaml ? api::JsonToYaml(json).value_or("") : Written(json, choice.pretty);
  return response;
}

// A Status, in what the client takes of the formats that Kubernetes has.
Response Refusal(const Request& request, int code, std::string_view reason,
                 std::string_view message) {
  std::string json =
      "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
      "\"Failure\",\"message\":";
  api::AppendJsonString(json, message);
  json += fmt::format(",\"reason\":\"{}\",\"code\":{}}}", reason, code);
  Response response;
  response.status = code;
  response.Set("Content-Type", "application/json");
  for (const AcceptClause& clause : ParseAccept(request.Header("accept"))) {
    if (NamesObject(clause)) continue;
    if (Matches(clause, "application", "json")) {
      response.body = Written(json, IsPretty(request, &clause));
      return response;
    }
    if (Matches(clause, "application", "yaml")) {
      response.Set("Content-Type", "application/yaml");
      response.body = api::JsonToYaml(json).value_or("");
      return response;
    }
  }
  response.body = IndentJson(json);
  return response;
}

Response NotAcceptable(const Request& request, const Style& style) {
  if (style.versions.empty()) {
    return TextError(406, "media type not acceptable, must be: text/plain");
  }
  return Refusal(request, 406, "NotAcceptable",
                 fmt::format("only the following media types are accepted: {}", style.accepted));
}

std::string Header(std::string_view component, std::string_view page) {
  return fmt::format(
      "\n{} {}\nWarning: This endpoint is not meant to be machine parseable, has no formatting "
      "compatibility guarantees and is for debugging purposes only.\n",
      component, page);
}

Response Text(const Request& request, const Style& style, std::string body) {
  Response response;
  const bool negotiated = !TrimBlanks(request.Header("accept")).empty();
  response.Set("Content-Type", std::string(negotiated ? style.negotiated_text : kPlain));
  response.body = std::move(body);
  return response;
}

void AppendField(std::string& json, std::string_view name, std::string_view value) {
  fmt::format_to(std::back_inserter(json), ",\"{}\":", name);
  api::AppendJsonString(json, value);
}

std::string ObjectHead(std::string_view kind, std::string_view version,
                       std::string_view component) {
  std::string json = fmt::format(
      "{{\"kind\":\"{}\",\"apiVersion\":\"{}/{}\",\"metadata\":{{\"name\":", kind, kGroup, version);
  api::AppendJsonString(json, component);
  return json + "}";
}

std::string StatuszJson(std::string_view version, const ZPages& pages, const StatuszFacts& facts) {
  std::string json = ObjectHead("Statusz", version, facts.component);
  AppendField(json, "startTime", api::Time::FromUnixNano(facts.started * 1'000'000'000).Format());
  fmt::format_to(std::back_inserter(json), ",\"uptimeSeconds\":{}", facts.up);
  AppendField(json, "goVersion", "none");
  AppendField(json, "binaryVersion", pages.binary_version);
  if (!pages.emulation_version.empty()) {
    AppendField(json, "emulationVersion", pages.emulation_version);
  }
  json += ",\"paths\":[";
  for (size_t i = 0; i < pages.paths.size(); ++i) {
    if (i > 0) json += ',';
    api::AppendJsonString(json, pages.paths[i]);
  }
  return json + "]}";
}

std::string FlagzJson(std::string_view version, std::string_view component,
                      const std::vector<std::pair<std::string, std::string>>& flags) {
  std::string json = ObjectHead("Flagz", version, component) + ",\"flags\":{";
  bool first = true;
  for (const auto& [name, value] : flags) {
    if (!std::exchange(first, false)) json += ',';
    api::AppendJsonString(json, name);
    json += ':';
    api::AppendJsonString(json, value);
  }
  return json + "}}";
}

// One entry of an Accept header, for 1.34.
bool TakesPlainText(const AcceptClause& clause) {
  if (!Matches(clause, "text", "plain") && !(clause.type == "*" && clause.subtype == "plain")) {
    return false;
  }
  if (clause.parameters.empty()) return true;
  std::string value(clause.Parameter("charset"));
  for (char& c : value) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return clause.parameters.size() == 1 && value == "utf-8";
}

std::optional<Choice> Choose(const Request& request, const Style& style, std::string_view kind) {
  if (!style.versions.empty()) return Negotiate(request, style, kind);
  if (!AcceptsPlainText(request.Header("accept"))) return std::nullopt;
  return Choice{};
}

}  // namespace

bool AcceptsPlainText(std::string_view accept) {
  for (const AcceptClause& clause : ParseAccept(accept)) {
    if (TakesPlainText(clause)) return true;
  }
  return false;
}

Response Statusz(const Request& request, const ZPages& pages, const StatuszFacts& facts) {
  const Style& style = StyleOf(pages.release);
  const auto choice = Choose(request, style, "Statusz");
  if (!choice) return NotAcceptable(request, style);
  if (choice->format != Format::kText) {
    return Object(*choice, style, "Statusz", "statusz", StatuszJson(choice->version, pages, facts));
  }
  std::string text = Header(facts.component, "statusz");
  text += fmt::format(
      "\nStarted= {}\nUp= {}\nGo version= none\nBinary version= {}\nEmulation version= {}\n",
      UnixDate(facts.started), Uptime(facts.up), pages.binary_version, pages.emulation_version);
  if (!style.versions.empty() && !pages.paths.empty()) {
    text += fmt::format("Paths= {}", fmt::join(pages.paths, " "));
  }
  return Text(request, style, text + "\n");
}

Response Flagz(const Request& request, const ZPages& pages, std::string_view component,
               const std::vector<std::pair<std::string, std::string>>& flags) {
  const Style& style = StyleOf(pages.release);
  const auto choice = Choose(request, style, "Flagz");
  if (!choice) return NotAcceptable(request, style);
  if (choice->format != Format::kText) {
    return Object(*choice, style, "Flagz", "flagz", FlagzJson(choice->version, component, flags));
  }
  std::string text = Header(component, style.flagz_title);
  if (style.versions.empty()) text += "\n";
  for (const auto& [name, value] : flags) text += fmt::format("{}={}\n", name, value);
  return Text(request, style, std::move(text));
}

std::string UnixDate(int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{} {} {:2d} {:02d}:{:02d}:{:02d} UTC {}", kDays[parts.tm_wday],
                     kMonths[parts.tm_mon], parts.tm_mday, parts.tm_hour, parts.tm_min,
                     parts.tm_sec, parts.tm_year + 1900);
}

std::string Uptime(int64_t seconds) {
  return fmt::format("{} hr {:02d} min {:02d} sec", seconds / 3600, seconds / 60 % 60,
                     seconds % 60);
}

}  // namespace berth::server
