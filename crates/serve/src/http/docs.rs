//! The OpenAPI document, made from the code, and a page that shows it. Nothing is fetched from elsewhere.

use super::{embedded, models, predict, runs, trace};
use axum::Json;
use axum::response::Response;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;

#[derive(OpenApi)]
#[openapi(
    info(title = "Gatto", description = "Encoder–decoder models as a service."),
    paths(
        models::list,
        models::replace,
        models::health,
        models::ready,
        models::metrics,
        predict::predict,
        trace::trace,
        runs::list,
        runs::one,
        crate::libre::translate,
        crate::libre::languages,
        crate::libre::detect,
        crate::libre::settings
    )
)]
struct Described;

/// The OpenAPI document of the service.
pub fn open_api() -> Document {
    Described::openapi()
}

pub(super) async fn document() -> Json<Document> {
    Json(open_api())
}

pub(super) async fn page() -> Response {
    embedded("text/html; charset=utf-8", include_str!("docs.html"))
}

pub(super) async fn style() -> Response {
    embedded("text/css; charset=utf-8", include_str!("docs.css"))
}

pub(super) async fn script() -> Response {
    embedded("text/javascript; charset=utf-8", include_str!("docs.js"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_is_described() {
        let document = serde_json::to_value(open_api()).unwrap();
        let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
        let known = [
            "/detect",
            "/frontend/settings",
            "/health",
            "/languages",
            "/metrics",
            "/ready",
            "/translate",
            "/v1/models",
            "/v1/models/replace",
            "/v1/predict",
            "/v1/runs",
            "/v1/runs/{name}",
            "/v1/trace",
        ];
        assert_eq!(paths, known);
        let text = document.to_string();
        for reference in text.split("\"#/components/schemas/").skip(1) {
            let name = reference.split('"').next().unwrap();
            assert!(document["components"]["schemas"][name].is_object(), "{name} is named and not described");
        }
    }
}
