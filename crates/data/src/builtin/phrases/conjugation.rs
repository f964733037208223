//! The Italian verb: regular classes by their endings, irregular ones by a table of what differs.

/// All the forms of one verb that the grammar uses. Persons run *io tu lui noi voi loro*.
#[derive(Clone, Debug)]
pub(super) struct Conjugation {
    pub(super) infinitive: String,
    pub(super) present: [String; 6],
    pub(super) imperfect: [String; 6],
    pub(super) future: [String; 6],
    /// Masculine and feminine singular, masculine and feminine plural.
    pub(super) participle: [String; 4],
    pub(super) gerund: String,
    /// *vorrei*; of use for *volere* alone.
    pub(super) conditional: [String; 6],
    /// Compound tenses with *essere*.
    pub(super) with_essere: bool,
    /// *svegliarsi*
    pub(super) reflexive: bool,
}

/// What a verb does not take from the rules; an empty string means that it does. `imperfect` is the
/// stem before *-evo* and *-endo*, `future` before *-ò*, `participle` before *-o*.
struct Irregular {
    infinitive: &'static str,
    present: &'static str,
    imperfect: &'static str,
    future: &'static str,
    participle: &'static str,
}

const fn irregular(
    infinitive: &'static str,
    present: &'static str,
    imperfect: &'static str,
    future: &'static str,
    participle: &'static str,
) -> Irregular {
    Irregular { infinitive, present, imperfect, future, participle }
}

const IRREGULAR: &[Irregular] = &[
    irregular("essere", "sono sei è siamo siete sono", "", "sar", "stat"),
    irregular("avere", "ho hai ha abbiamo avete hanno", "", "avr", "avut"),
    irregular("stare", "sto stai sta stiamo state stanno", "", "star", "stat"),
    irregular("andare", "vado vai va andiamo andate vanno", "", "andr", ""),
    irregular("fare", "faccio fai fa facciamo fate fanno", "fac", "far", "fatt"),
    irregular("dare", "do dai dà diamo date danno", "", "dar", ""),
    irregular("venire", "vengo vieni viene veniamo venite vengono", "", "verr", "venut"),
    irregular("bere", "bevo bevi beve beviamo bevete bevono", "bev", "berr", "bevut"),
    irregular("dire", "dico dici dice diciamo dite dicono", "dic", "dir", "dett"),
    irregular("volere", "voglio vuoi vuole vogliamo volete vogliono", "", "vorr", ""),
    irregular("potere", "posso puoi può possiamo potete possono", "", "potr", ""),
    irregular("dovere", "devo devi deve dobbiamo dovete devono", "", "dovr", ""),
    irregular("sapere", "so sai sa sappiamo sapete sanno", "", "sapr", ""),
    irregular("sedere", "siedo siedi siede sediamo sedete siedono", "", "sieder", ""),
    irregular("scegliere", "scelgo scegli sceglie scegliamo scegliete scelgono", "", "", "scelt"),
    irregular("piacere", "piaccio piaci piace piacciamo piacete piacciono", "", "", "piaciut"),
    irregular("vedere", "", "", "vedr", "vist"),
    irregular("cadere", "", "", "cadr", ""),
    irregular("conoscere", "", "", "", "conosciut"),
    irregular("leggere", "", "", "", "lett"),
    irregular("scrivere", "", "", "", "scritt"),
    irregular("prendere", "", "", "", "pres"),
    irregular("perdere", "", "", "", "pers"),
    irregular("chiudere", "", "", "", "chius"),
    irregular("aprire", "", "", "", "apert"),
    irregular("mettere", "", "", "", "mess"),
    irregular("correre", "", "", "", "cors"),
];

/// Verbs in *-ire* whose present is *-isco*.
const WITH_ISC: &[&str] = &["capire", "pulire", "finire", "preferire"];

/// Compound tenses with *essere*, besides the reflexive verbs.
const WITH_ESSERE: &[&str] = &[
    "essere", "andare", "venire", "tornare", "arrivare", "partire", "cadere", "restare", "piacere", "stare",
];

/// The endings of a class; those of the present come before a stem that may have been softened.
struct Class {
    present: &'static str,
    theme: &'static str,
    future: &'static str,
    participle: &'static str,
    gerund: &'static str,
}

const ARE: Class =
    Class { present: "o i a iamo ate ano", theme: "a", future: "er", participle: "at", gerund: "ando" };
const ERE: Class =
    Class { present: "o i e iamo ete ono", theme: "e", future: "er", participle: "ut", gerund: "endo" };
const IRE: Class =
    Class { present: "o i e iamo ite ono", theme: "i", future: "ir", participle: "it", gerund: "endo" };
const ISC: Class = Class { present: "isco isci isce iamo ite iscono", ..IRE };

/// Six space-separated words or endings, each after what `stem` gives for it.
fn six(endings: &str, stem: impl Fn(&str) -> String) -> [String; 6] {
    let mut endings = endings.split(' ');
    std::array::from_fn(|_| {
        let ending = endings.next().unwrap_or_default();
        format!("{}{ending}", stem(ending))
    })
}

/// The stem before `ending`: *cerc-* is *cerch-* before *i* and *e*, *mangi-* and *studi-* lose their
/// *i* before *i*, and *mangi-* before *e* too.
fn spelled(stem: &str, class: &Class, ending: &str) -> String {
    let soft = ending.starts_with(['i', 'e']);
    match stem.strip_suffix('i') {
        _ if class.theme != "a" || !soft => stem.into(),
        Some(short) if ending.starts_with('i') || short.ends_with(['c', 'g']) => short.into(),
        None if stem.ends_with(['c', 'g']) => format!("{stem}h"),
        _ => stem.into(),
    }
}

/// Conjugates the verb with this `infinitive`, which may be reflexive (*svegliarsi*).
pub(super) fn conjugate(infinitive: &str) -> Conjugation {
    let (infinitive, reflexive) = match infinitive.strip_suffix("si") {
        Some(bare) => (format!("{bare}e"), true),
        None => (infinitive.into(), false),
    };
    let stem = &infinitive[..infinitive.len().saturating_sub(3)];
    let class = match &infinitive[stem.len()..] {
        "are" => ARE,
        "ire" if WITH_ISC.contains(&infinitive.as_str()) => ISC,
        "ire" => IRE,
        _ => ERE,
    };
    let special = IRREGULAR.iter().find(|verb| verb.infinitive == infinitive);
    let own = |part: fn(&Irregular) -> &'static str| special.map(part).filter(|text| !text.is_empty());

    let present = match own(|verb| verb.present) {
        Some(forms) => six(forms, |_| String::new()),
        None => six(class.present, |ending| spelled(stem, &class, ending)),
    };
    let future_stem = own(|verb| verb.future)
        .map_or_else(|| spelled(stem, &class, class.future) + class.future, String::from);
    let (past_stem, past_theme, gerund) = match own(|verb| verb.imperfect) {
        Some(old) => (old, "e", "endo"),
        None => (stem, class.theme, class.gerund),
    };
    let imperfect = match infinitive.as_str() {
        "essere" => six("ero eri era eravamo eravate erano", |_| String::new()),
        _ => six("vo vi va vamo vate vano", |_| format!("{past_stem}{past_theme}")),
    };
    let participle =
        own(|verb| verb.participle).map_or_else(|| format!("{stem}{}", class.participle), String::from);
    Conjugation {
        present,
        imperfect,
        future: six("ò ai à emo ete anno", |_| future_stem.clone()),
        conditional: six("ei esti ebbe emmo este ebbero", |_| future_stem.clone()),
        participle: ["o", "a", "i", "e"].map(|ending| format!("{participle}{ending}")),
        gerund: format!("{past_stem}{gerund}"),
        with_essere: reflexive || WITH_ESSERE.contains(&infinitive.as_str()),
        reflexive,
        infinitive,
    }
}
