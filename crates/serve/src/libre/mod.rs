//! The API of LibreTranslate, so that its clients find here what they know.
//!
//! A text is cut into lines and sentences, which are translated one by one, as models of sentences have learnt to; what
//! stands between them stays. Markup stays as it is, see [`html`].

mod detect;
mod html;
mod names;
mod sentences;

use crate::http::{App, check_text, is_form, is_json, parse_body, read_body};
use crate::refusal::{Refusal, Told};
use crate::room::Hosted;
use crate::work::{Item, Reading, Way};
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::{get, post};
use axum::{Json, Router};
use gatto_model::{Constraints, Draw};
use gatto_search::SearchConfig;
use sentences::Composition;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use utoipa::ToSchema;

/// What stands for a language that is to be found out.
const AUTO: &str = "auto";

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/translate", post(translate))
        .route("/languages", get(languages))
        .route("/detect", post(detect))
        .route("/frontend/settings", get(settings))
}

/// What to translate.
#[derive(Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(default)]
pub(crate) struct TranslateRequest {
    /// A text, or several.
    q: Option<Queried>,
    /// The code of its language, or `auto`.
    #[schema(example = "en")]
    source: Option<String>,
    /// The code of the language to translate into.
    #[schema(example = "it")]
    target: Option<String>,
    /// `text` or `html`.
    format: Option<String>,
    /// How many other translations are wanted.
    alternatives: Option<Number>,
    api_key: Option<String>,
}

/// One text, or several.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Queried {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

/// A number, or its digits.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Number {
    /// A number.
    Number(u32),
    /// Its digits.
    Digits(String),
}

impl Number {
    fn value(&self) -> Result<usize, Refusal> {
        match self {
            Self::Number(number) => Ok(*number as usize),
            Self::Digits(digits) => digits
                .trim()
                .parse()
                .map_err(|_| Refusal::Bad("Invalid request: alternatives parameter is not a number".into())),
        }
    }
}

/// Translations.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TranslateAnswer {
    /// The translation of each text.
    translated_text: OneOr<String>,
    /// Other translations of each text.
    #[serde(skip_serializing_if = "Option::is_none")]
    alternatives: Option<OneOr<Vec<String>>>,
    /// The language of each text, where that was to be found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    detected_language: Option<OneOr<Detected>>,
}

/// As many as there were texts, or one for one.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum OneOr<T> {
    /// For a text.
    One(T),
    /// For a list of texts.
    Many(Vec<T>),
}

impl<T> OneOr<T> {
    fn of(many: bool, mut all: Vec<T>) -> Result<Self, Refusal> {
        match many {
            true => Ok(Self::Many(all)),
            false => all.pop().map(Self::One).ok_or(Refusal::Broken),
        }
    }
}

/// A language that a text may be in.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct Detected {
    /// How well it fits, from 0 to 100.
    confidence: f64,
    /// Its code.
    language: String,
}

/// A body of JSON, or of a form.
async fn read(app: &App, headers: &HeaderMap, body: Body) -> Result<TranslateRequest, Refusal> {
    let bytes = read_body(app, headers, body).await?;
    if is_json(headers) {
        return parse_body(&bytes);
    }
    if !is_form(headers) {
        let remedy = "send JSON, as `Content-Type: application/json`, or a form, as \
                      `Content-Type: application/x-www-form-urlencoded`";
        return Err(Refusal::Kind(remedy.to_owned()));
    }
    let mut request = TranslateRequest::default();
    for (key, value) in form_urlencoded::parse(&bytes) {
        let value = value.into_owned();
        match key.as_ref() {
            "q" => {
                request.q = Some(match request.q.take() {
                    None => Queried::One(value),
                    Some(Queried::One(first)) => Queried::Many(vec![first, value]),
                    Some(Queried::Many(mut all)) => {
                        all.push(value);
                        Queried::Many(all)
                    }
                });
            }
            "source" => request.source = Some(value),
            "target" => request.target = Some(value),
            "format" => request.format = Some(value),
            "alternatives" => request.alternatives = Some(Number::Digits(value)),
            "api_key" => request.api_key = Some(value),
            _ => {}
        }
    }
    Ok(request)
}

fn missing(name: &str) -> Refusal {
    Refusal::Bad(format!("Invalid request: missing {name} parameter"))
}

/// Translators by what they translate between.
struct Pairs(Vec<Arc<Hosted>>);

impl Pairs {
    fn of(app: &App) -> Self {
        Self(app.room.all().into_iter().filter(|hosted| hosted.place.languages.is_some()).collect())
    }

    fn codes(&self) -> impl Iterator<Item = (&str, &str)> {
        let codes = self.0.iter().filter_map(|hosted| hosted.place.languages.as_ref());
        codes.map(|languages| (languages.source.as_str(), languages.target.as_str()))
    }

    fn knows(&self, code: &str) -> bool {
        self.codes().any(|(source, target)| source == code || target == code)
    }

    /// The translator between two languages; nothing if they are one.
    fn between(&self, source: &str, target: &str) -> Result<Option<Arc<Hosted>>, Refusal> {
        for code in [source, target] {
            if !self.knows(code) {
                return Err(Refusal::Bad(format!("{code} is not supported")));
            }
        }
        if source == target {
            return Ok(None);
        }
        let is = |hosted: &&Arc<Hosted>| {
            hosted
                .place
                .languages
                .as_ref()
                .is_some_and(|found| found.source == source && found.target == target)
        };
        let found = self.0.iter().find(is).cloned();
        found.map(Some).ok_or_else(|| {
            let name = names::name(target);
            Refusal::Bad(format!("{target} ({name}) is not available as a target language from {source}"))
        })
    }

    /// How well a text fits the languages that are read here, the best first.
    fn detected(&self, text: &str) -> Vec<Detected> {
        let readers = self.0.iter().filter_map(|hosted| {
            Some((hosted.place.languages.as_ref()?.source.as_str(), &*hosted.saved.tokens.source))
        });
        let found = detect::confidences(readers, text).into_iter();
        found.map(|(language, confidence)| Detected { confidence, language }).collect()
    }
}

/// Translates text, as LibreTranslate does
#[utoipa::path(
    post,
    path = "/translate",
    request_body(content((TranslateRequest = "application/json"), (TranslateRequest = "application/x-www-form-urlencoded"))),
    responses(
        (status = 200, body = TranslateAnswer),
        (status = 400, body = Told),
        (status = 403, body = Told),
        (status = 429, body = Told)
    )
)]
pub(crate) async fn translate(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<TranslateAnswer>, Refusal> {
    let request = read(&app, &headers, body).await?;
    app.admit(&headers, request.api_key.as_deref())?;
    let (many, texts) = match request.q.ok_or_else(|| missing("q"))? {
        Queried::One(text) => (false, vec![text]),
        Queried::Many(texts) => (true, texts),
    };
    let source = request.source.ok_or_else(|| missing("source"))?;
    let target = request.target.ok_or_else(|| missing("target"))?;
    let html = match request.format.as_deref() {
        None | Some("" | "text") => false,
        Some("html") => true,
        Some(other) => return Err(Refusal::Bad(format!("{other} format is not supported"))),
    };
    let others = request.alternatives.as_ref().map_or(Ok(0), Number::value)?;
    check(&app, &texts, others)?;
    let pairs = Pairs::of(&app);
    let detected: Option<Vec<Detected>> = match source == AUTO {
        false => None,
        true => {
            let language = |text: &String| pairs.detected(text).into_iter().next();
            let none = || Refusal::Bad(format!("{AUTO} is not supported"));
            Some(texts.iter().map(language).collect::<Option<Vec<_>>>().ok_or_else(none)?)
        }
    };
    let sources = match &detected {
        Some(detected) => detected.iter().map(|found| found.language.clone()).collect(),
        None => vec![source; texts.len()],
    };
    let work = Translating { app: &app, pairs, target: &target, html, others };
    let translations = work.all(&texts, &sources).await?;
    let (best, rest): (Vec<String>, Vec<Vec<String>>) = translations
        .into_iter()
        .map(|mut all| if all.is_empty() { (String::new(), all) } else { (all.remove(0), all) })
        .unzip();
    Ok(Json(TranslateAnswer {
        translated_text: OneOr::of(many, best)?,
        alternatives: if others > 0 { Some(OneOr::of(many, rest)?) } else { None },
        detected_language: detected.map(|found| OneOr::of(many, found)).transpose()?,
    }))
}

/// Refuses more than is translated at once.
fn check(app: &App, texts: &[String], others: usize) -> Result<(), Refusal> {
    let limits = &app.limits;
    if texts.len() > limits.texts {
        return Err(Refusal::Bad(format!(
            "Invalid request: request ({}) exceeds batch limit ({})",
            texts.len(),
            limits.texts
        )));
    }
    if let Some(text) =
        texts.iter().find(|text| text.len() > limits.characters && text.chars().count() > limits.characters)
    {
        let (count, most) = (text.chars().count(), limits.characters);
        return Err(Refusal::Bad(format!("Invalid request: request ({count}) exceeds text limit ({most})")));
    }
    let most = limits.n_best.min(limits.beam).saturating_sub(1);
    match others > most {
        true => Err(Refusal::Bad(format!("Invalid request: alternatives parameter must be at most {most}"))),
        false => Ok(()),
    }
}

/// A translation of texts into one language.
struct Translating<'a> {
    app: &'a App,
    pairs: Pairs,
    target: &'a str,
    html: bool,
    /// How many translations each text gets beside the best.
    others: usize,
}

impl Translating<'_> {
    /// The translations of each text, the best first. Texts of one language are translated together.
    async fn all(&self, texts: &[String], sources: &[String]) -> Result<Vec<Vec<String>>, Refusal> {
        let mut found = vec![Vec::new(); texts.len()];
        for source in sources.iter().collect::<BTreeSet<_>>() {
            let places: Vec<usize> = (0..texts.len()).filter(|&place| sources[place] == **source).collect();
            let Some(hosted) = self.pairs.between(source, self.target)? else {
                places.iter().for_each(|&place| found[place] = vec![texts[place].clone()]);
                continue;
            };
            let cut = |&place: &usize| {
                let text = &texts[place];
                if self.html { html::composition(text) } else { Composition::of_text(text) }
            };
            let compositions: Vec<Composition<'_>> = places.iter().map(cut).collect();
            let translated = self.sentences(hosted, &compositions).await?;
            for (place, made) in places.into_iter().zip(translated) {
                found[place] = made;
            }
        }
        Ok(found)
    }

    async fn sentences(
        &self,
        hosted: Arc<Hosted>,
        compositions: &[Composition<'_>],
    ) -> Result<Vec<Vec<String>>, Refusal> {
        let limits = &self.app.limits;
        let sentences = compositions.iter().flat_map(Composition::sentences);
        let item = |(line, text): (u64, String)| Item {
            reading: Reading::Text(text),
            constraints: Constraints::default(),
            draw: Draw { seed: 0, line },
        };
        let items: Vec<Item> = (0..).zip(sentences).map(item).collect();
        let most = limits.texts.max(limits.queue / 4);
        if items.len() > most {
            let count = items.len();
            return Err(Refusal::Bad(format!(
                "Invalid request: {count} sentences exceed the limit ({most})"
            )));
        }
        for (index, item) in items.iter().enumerate() {
            check_text(self.app, &hosted, index, item.text().unwrap_or_default())?;
        }
        let own = &hosted.saved.search;
        let wanted = 1 + self.others;
        let search = SearchConfig {
            beam: own.beam.max(wanted),
            max_length: own.max_length.min(limits.max_length),
            ..own.clone()
        };
        let way = Way::Best { search, count: (wanted > 1).then_some(wanted) };
        let ticket = self.app.ask(hosted, way, items, limits.deadline, false).await?;
        let mut answers = ticket.all().await?.into_iter().map(crate::answers::Answer::texts);
        let compose = |composition: &Composition<'_>| {
            let own: Vec<Vec<String>> = answers.by_ref().take(composition.sentences().count()).collect();
            let ways = own.iter().map(Vec::len).max().unwrap_or(1).max(1);
            // The k-th translation of a text has the k-th of each sentence, or the last that there is.
            let made = |k: usize| {
                let each = own.iter().map(|ways| ways.get(k).or(ways.last()).map_or("", String::as_str));
                composition.with(each)
            };
            let mut all: Vec<String> = (0..ways).map(made).collect();
            all.dedup();
            all
        };
        Ok(compositions.iter().map(compose).collect())
    }
}

/// A language, and what it can be translated into.
#[derive(Serialize, ToSchema)]
pub(crate) struct Language {
    code: String,
    name: String,
    targets: Vec<String>,
}

/// The languages that are read here
#[utoipa::path(get, path = "/languages", responses((status = 200, body = Vec<Language>)))]
pub(crate) async fn languages(State(app): State<App>) -> Json<Vec<Language>> {
    let pairs = Pairs::of(&app);
    let mut targets: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (source, target) in pairs.codes() {
        targets.entry(source).or_insert_with(|| [source].into()).insert(target);
        targets.entry(target).or_insert_with(|| [target].into());
    }
    let language = |(code, targets): (&str, BTreeSet<&str>)| Language {
        code: code.to_owned(),
        name: names::name(code).to_owned(),
        targets: targets.into_iter().map(str::to_owned).collect(),
    };
    Json(targets.into_iter().map(language).collect())
}

/// Tells the language of a text
///
/// Among those that are read here: the one whose vocabulary fits the text best.
#[utoipa::path(
    post,
    path = "/detect",
    request_body(content((TranslateRequest = "application/json"), (TranslateRequest = "application/x-www-form-urlencoded"))),
    responses((status = 200, body = Vec<Detected>), (status = 400, body = Told), (status = 403, body = Told))
)]
pub(crate) async fn detect(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Vec<Detected>>, Refusal> {
    let request = read(&app, &headers, body).await?;
    app.admit(&headers, request.api_key.as_deref())?;
    let text = match request.q.ok_or_else(|| missing("q"))? {
        Queried::One(text) => text,
        Queried::Many(texts) => texts.join(" "),
    };
    let text = [text];
    check(&app, &text, 0)?;
    Ok(Json(Pairs::of(&app).detected(&text[0])))
}

/// Settings that LibreTranslate tells its page.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrontendSettings {
    api_keys: bool,
    key_required: bool,
    char_limit: usize,
    frontend_timeout: u32,
    suggestions: bool,
    files_translation: bool,
    supported_files_format: Vec<String>,
    language: Chosen,
}

/// The languages that are chosen at first.
#[derive(Serialize, ToSchema)]
pub(crate) struct Chosen {
    source: Named,
    target: Named,
}

/// A language by its code and name.
#[derive(Serialize, ToSchema)]
pub(crate) struct Named {
    code: String,
    name: String,
}

/// Settings as LibreTranslate tells its page
#[utoipa::path(get, path = "/frontend/settings", responses((status = 200, body = FrontendSettings)))]
pub(crate) async fn settings(State(app): State<App>) -> Json<FrontendSettings> {
    let pairs = Pairs::of(&app);
    let target = pairs.codes().next().map_or("", |(_, target)| target).to_owned();
    let keys = !app.keys.is_empty();
    Json(FrontendSettings {
        api_keys: keys,
        key_required: keys,
        char_limit: app.limits.characters,
        frontend_timeout: 500,
        suggestions: false,
        files_translation: false,
        supported_files_format: Vec::new(),
        language: Chosen {
            source: Named { code: AUTO.to_owned(), name: "Auto Detect".to_owned() },
            target: Named { name: names::name(&target).to_owned(), code: target },
        },
    })
}
