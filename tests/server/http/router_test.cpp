#include "server/http/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmb::http {
namespace {

Handler answering(std::string text) {
  return [text = std::move(text)](const Request&) { return json_response(text); };
}

Response dispatch(const Router& router, std::string method, std::string path) {
  Request request;
  request.method = std::move(method);
  request.path = std::move(path);
  return router.dispatch(request);
}

Router router_with_routes() {
  Router router;
  router.add("GET", "/", answering("root"));
  router.add("GET", "/runs/{id}", [](const Request& request) {
    return json_response("run " + request.path_parameters.at("id"));
  });
  router.add("GET", "/runs/latest", answering("latest"));
  router.add("GET", "/runs/{id}/steps/{step}", [](const Request& request) {
    return json_response(request.path_parameters.at("id") + "/" +
                         request.path_parameters.at("step"));
  });
  router.add("POST", "/runs/{id}", answering("posted"),
             {.work = Work::waiting, .body_bytes_max = 77});
  router.add("DELETE", "/jobs", answering("gone"));
  return router;
}

TEST(Router, FindsLiteralsAndParameters) {
  const Router router = router_with_routes();
  EXPECT_EQ(*dispatch(router, "GET", "/").body, "root");
  EXPECT_EQ(*dispatch(router, "GET", "/runs/7").body, "run 7");
  EXPECT_EQ(*dispatch(router, "POST", "/runs/7").body, "posted");
  EXPECT_EQ(*dispatch(router, "GET", "/runs/7/steps/49").body, "7/49");
}

TEST(Router, PrefersTheLiteralWhereverItWasAdded) {
  EXPECT_EQ(*dispatch(router_with_routes(), "GET", "/runs/latest").body, "latest");
}

TEST(Router, ServesHeadByGet) {
  EXPECT_EQ(*dispatch(router_with_routes(), "HEAD", "/runs/7").body, "run 7");
}

TEST(Router, AnswersNotFound) {
  const Router router = router_with_routes();
  for (const char* path : {"/run", "/runs", "/runs/", "/runs/7/", "/runs/7/steps", "//"}) {
    EXPECT_EQ(dispatch(router, "GET", path).status, 404) << path;
  }
}

TEST(Router, AnswersMethodNotAllowedWithWhatIs) {
  const Response response = dispatch(router_with_routes(), "PUT", "/runs/7");
  EXPECT_EQ(response.status, 405);
  EXPECT_THAT(response.headers, testing::ElementsAre(testing::Pair("Allow", "GET,HEAD,POST")));
  EXPECT_EQ(dispatch(router_with_routes(), "HEAD", "/jobs").status, 405);
}

TEST(Router, FallsBackForReadsOnly) {
  Router router = router_with_routes();
  router.set_fallback(answering("page"));
  EXPECT_EQ(*dispatch(router, "GET", "/anything").body, "page");
  EXPECT_EQ(*dispatch(router, "HEAD", "/anything").body, "page");
  EXPECT_EQ(dispatch(router, "GET", "/jobs").status, 405);
  const Response refusal = dispatch(router, "POST", "/anything");
  EXPECT_EQ(refusal.status, 405) << "it is there, to be read";
  EXPECT_THAT(refusal.headers, testing::ElementsAre(testing::Pair("Allow", "GET,HEAD")));
  router.set_fallback([](const Request&) { return problem(404, "Not found", "no page"); });
  EXPECT_EQ(dispatch(router, "POST", "/anything").status, 404);
}

TEST(Router, KnowsTheOptionsOfARoute) {
  const Router router = router_with_routes();
  EXPECT_EQ(router.options_for("POST", "/runs/7").body_bytes_max, 77U);
  EXPECT_EQ(router.options_for("POST", "/runs/7").work, Work::waiting);
  EXPECT_EQ(router.options_for("GET", "/runs/7").body_bytes_max, std::nullopt);
  EXPECT_EQ(router.options_for("GET", "/runs/7").work, Work::quick);
  EXPECT_EQ(router.options_for("POST", "/elsewhere").work, Work::quick);
}

TEST(Router, ListsItsRoutes) {
  EXPECT_THAT(router_with_routes().routes(), testing::Contains("GET /runs/{id}/steps/{step}"));
}

}  // namespace
}  // namespace llmb::http
