//! HTTP: the OpenAI-compatible API, the operator's API, platform webhooks and the web page. No route stands yet.
