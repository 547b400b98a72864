// OpenMetricsText: writes metric families in the OpenMetrics 1.0 text format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmb::api {

constexpr std::string_view kOpenMetricsContentType =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

class OpenMetricsText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

  // `type`: "gauge", "counter", "histogram", "info". `unit` ("" for none) has to be the end of
  // `name`, as the format wants it. The samples of a family follow its begin_family.
  void begin_family(std::string_view name, std::string_view type, std::string_view unit,
                    std::string_view help);
  // `suffix`: "_total" for counters, "_bucket", "_sum", "_count" for histograms.
  void sample(std::string_view suffix, const Labels& labels, double value);
  void sample(std::string_view suffix, const Labels& labels, std::uint64_t value);
  void sample(std::string_view suffix, const Labels& labels, std::int64_t value);

  std::string finish() &&;  // adds "# EOF"

 private:
  void line(std::string_view suffix, const Labels& labels, std::string_view value);
  std::string family_;
  std::string text_;
};

std::string metric_number(double value);  // shortest form; "0.001", "1.0" as bucket bounds

}  // namespace llmb::api
