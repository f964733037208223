//! Word forms against a table.

use crate::builtin::phrases::conjugation::conjugate;
use crate::builtin::phrases::italian::{Gender::*, Number::*, *};
use crate::builtin::phrases::lexicon::with_s;

#[test]
fn nouns_have_their_plurals() {
    let lexicon = &crate::builtin::phrases::lexicon::LEXICON;
    for (singular, plural) in [
        ("uomo", "uomini"),
        ("uovo", "uova"),
        ("città", "città"),
        ("amico", "amici"),
        ("libro", "libri"),
        ("problema", "problemi"),
        ("artista", "artisti"),
        ("cuoco", "cuochi"),
        ("psicologo", "psicologi"),
        ("albergo", "alberghi"),
        ("negozio", "negozi"),
        ("zio", "zii"),
        ("figlio", "figli"),
        ("figlia", "figlie"),
        ("mucca", "mucche"),
        ("arancia", "arance"),
        ("camicia", "camicie"),
        ("valigia", "valigie"),
        ("chiave", "chiavi"),
        ("foto", "foto"),
        ("autobus", "autobus"),
        ("re", "re"),
        ("yogurt", "yogurt"),
    ] {
        let noun = lexicon.nouns.iter().find(|noun| noun.italian[0] == singular).expect(singular);
        assert_eq!(noun.italian[1], plural);
    }
    // Words of the rules that the lexicon does not have.
    assert_eq!([plural("amica", Feminine), plural("mano", Feminine)], ["amiche", "mani"]);
    assert_eq!(plural("spiaggia", Feminine), "spiagge");
}

#[test]
fn articles_heed_the_next_word() {
    let words = ["gatto", "zio", "studente", "gnomo", "psicologo", "xilofono", "yogurt", "amico", "sogno"];
    let said = |article: &str, word: &str| match article.ends_with('\'') {
        true => format!("{article}{word}"),
        false => format!("{article} {word}"),
    };
    let definite_of = |number| words.map(|word| said(definite(Masculine, number, onset(word)), word));
    assert_eq!(
        definite_of(Singular),
        [
            "il gatto",
            "lo zio",
            "lo studente",
            "lo gnomo",
            "lo psicologo",
            "lo xilofono",
            "lo yogurt",
            "l'amico",
            "il sogno"
        ]
    );
    assert_eq!(
        definite_of(Plural).map(|text| text.split(' ').next().unwrap().len()),
        [1, 3, 3, 3, 3, 3, 3, 3, 1]
    );
    assert_eq!(words.map(|word| indefinite(Masculine, onset(word))).concat(), "ununounounounounounounun");
    assert_eq!(indefinite(Feminine, onset("amica")), "un'");
    assert_eq!(indefinite(Feminine, onset("zia")), "una");
    assert_eq!(definite(Feminine, Plural, onset("amiche")), "le");
    assert_eq!(Simple::In.articulated(Masculine, Singular, onset("zaino")), "nello");
    assert_eq!(Simple::Su.articulated(Feminine, Singular, onset("isola")), "sull'");
    assert_eq!(Simple::Da.articulated(Masculine, Plural, onset("amici")), "dagli");
    assert_eq!([Simple::A.alone("anna"), Simple::A.alone("ogni")], ["ad", "a"]);
    assert_eq!(that(Masculine, Plural, onset("uomini")), "quegli");
    assert_eq!(this(Feminine, Singular, onset("arancia")), "quest'");
}

#[test]
fn adjectives_agree() {
    assert_eq!(agreeing("stanco"), ["stanco", "stanca", "stanchi", "stanche"]);
    assert_eq!(agreeing("simpatico"), ["simpatico", "simpatica", "simpatici", "simpatiche"]);
    assert_eq!(agreeing("vecchio"), ["vecchio", "vecchia", "vecchi", "vecchie"]);
    assert_eq!(agreeing("grigio"), ["grigio", "grigia", "grigi", "grigie"]);
    assert_eq!(agreeing("felice"), ["felice", "felice", "felici", "felici"]);
    assert_eq!(agreeing("blu"), ["blu"; 4]);
    let bello = agreeing("bello");
    let buono = agreeing("buono");
    let masculine = |word: &str, number| prenominal(&bello, Masculine, number, onset(word)).to_string();
    assert_eq!(["gatto", "zaino", "albero"].map(|word| masculine(word, Singular)), ["bel", "bello", "bell'"]);
    assert_eq!(["gatti", "zaini", "alberi"].map(|word| masculine(word, Plural)), ["bei", "begli", "begli"]);
    assert_eq!(
        ["libro", "amico", "zio"].map(|word| prenominal(&buono, Masculine, Singular, onset(word))),
        ["buon", "buon", "buono"]
    );
}

#[test]
fn verbs_conjugate() {
    let present = |verb: &str| conjugate(verb).present.join(" ");
    let future = |verb: &str| conjugate(verb).future[2].clone();
    assert_eq!(present("mangiare"), "mangio mangi mangia mangiamo mangiate mangiano");
    assert_eq!(present("cercare"), "cerco cerchi cerca cerchiamo cercate cercano");
    assert_eq!(present("studiare"), "studio studi studia studiamo studiate studiano");
    assert_eq!(present("leggere"), "leggo leggi legge leggiamo leggete leggono");
    assert_eq!(present("dormire"), "dormo dormi dorme dormiamo dormite dormono");
    assert_eq!(present("capire"), "capisco capisci capisce capiamo capite capiscono");
    assert_eq!(present("svegliarsi"), "sveglio svegli sveglia svegliamo svegliate svegliano");
    let verbs =
        ["mangiare", "spiegare", "studiare", "tagliare", "prendere", "pulire", "bere", "venire", "vedere"];
    assert_eq!(
        verbs.map(future),
        ["mangerà", "spiegherà", "studierà", "taglierà", "prenderà", "pulirà", "berrà", "verrà", "vedrà"]
    );
    let imperfect = |verb: &str| conjugate(verb).imperfect[0].clone();
    assert_eq!(
        ["fare", "dire", "bere", "dare", "essere", "finire"].map(imperfect).join(" "),
        "facevo dicevo bevevo davo ero finivo"
    );
    let gerund = |verb: &str| conjugate(verb).gerund;
    assert_eq!(["fare", "bere", "andare", "aprire"].map(gerund).join(" "), "facendo bevendo andando aprendo");
    let participle = |verb: &str| conjugate(verb).participle[1].clone();
    let irregular =
        ["vedere", "leggere", "aprire", "fare", "venire", "mettere", "scegliere", "mangiare", "dare"];
    assert_eq!(
        irregular.map(participle).join(" "),
        "vista letta aperta fatta venuta messa scelta mangiata data"
    );
    assert_eq!(conjugate("volere").conditional[3], "vorremmo");
    assert!(conjugate("alzarsi").with_essere && conjugate("alzarsi").reflexive);
}

#[test]
fn english_takes_its_s() {
    let words = ["cat", "church", "story", "boy", "bus", "potato", "zoo", "wash", "study", "go", "play"];
    assert_eq!(
        words.map(with_s),
        [
            "cats", "churches", "stories", "boys", "buses", "potatoes", "zoos", "washes", "studies", "goes",
            "plays"
        ]
    );
}
