//! Sentence pairs written by hand, one phenomenon or more each, and hand-written alignments.

use super::build::*;
use crate::builtin::part_of;
use crate::builtin::phrases::clause::{Clause, Complement, Like, ObjectPronoun::*, There, Verbal};
use crate::builtin::phrases::italian::Number;
use crate::builtin::phrases::noun_phrase::Joint;
use crate::builtin::phrases::sentence::{QuestionWord, Sentence};
use crate::builtin::phrases::tense::{Modal, Tense, Tense::*};
use crate::builtin::phrases::verb_group::Polarity::{self, *};
use crate::{Example, Link, Part};

/// The cat on the table, the sentence that gives the toolkit its name.
fn cat() -> Verbal {
    clause("the cat", "be", Present).place("on the table")
}

fn check(pairs: Vec<(Example, &str, &str)>) {
    for (example, english, italian) in pairs {
        assert_eq!((example.source.as_str(), example.target.as_str()), (english, italian));
    }
}

#[test]
fn the_cat_is_on_the_table_and_held_out() {
    check(vec![(cat().said(), "the cat is on the table", "il gatto è sul tavolo")]);
    assert_eq!(part_of(&cat().said().source), Part::Test);
}

#[test]
fn noun_phrases() {
    let is = |who: &'static str, what: &str| clause(who, "be", Present).what(quality(what)).said();
    let saw = |whom: &'static str| clause("he", "see", Past).object(whom).said();
    check(vec![
        (is("the girls", "tired"), "the girls are tired", "le ragazze sono stanche"),
        (is("my father", "very kind"), "my father is very kind", "mio padre è molto gentile"),
        (is("their father", "sick"), "their father is sick", "il loro padre è malato"),
        (is("my old father", "rich"), "my old father is rich", "il mio vecchio padre è ricco"),
        (is("her brothers", "shy"), "her brothers are shy", "i suoi fratelli sono timidi"),
        (is("anna and maria", "happy"), "anna and maria are happy", "anna e maria sono felici"),
        (
            is("the boy and the girl", "tall"),
            "the boy and the girl are tall",
            "il ragazzo e la ragazza sono alti",
        ),
        (is("the eggs", "fresh"), "the eggs are fresh", "le uova sono fresche"),
        (is("the other cat", "big"), "the other cat is big", "l'altro gatto è grande"),
        (is("the same student", "so lazy"), "the same student is so lazy", "lo stesso studente è così pigro"),
        (saw("the old uncle"), "he saw the old uncle", "ha visto il vecchio zio"),
        (saw("an uncle"), "he saw an uncle", "ha visto uno zio"),
        (saw("an actress"), "he saw an actress", "ha visto un'attrice"),
        (saw("a beautiful tree"), "he saw a beautiful tree", "ha visto un bell'albero"),
        (saw("the beautiful mirrors"), "he saw the beautiful mirrors", "ha visto i begli specchi"),
        (saw("a good friend"), "he saw a good friend", "ha visto un buon amico"),
        (saw("that man"), "he saw that man", "ha visto quell'uomo"),
        (saw("those backpacks"), "he saw those backpacks", "ha visto quegli zaini"),
        (saw("this orange"), "he saw this orange", "ha visto quest'arancia"),
        (saw("all the trees"), "he saw all the trees", "ha visto tutti gli alberi"),
        (saw("every house"), "he saw every house", "ha visto ogni casa"),
        (saw("many gray shirts"), "he saw many gray shirts", "ha visto molte camicie grigie"),
        (
            saw("the two small white dogs"),
            "he saw the two small white dogs",
            "ha visto i due piccoli cani bianchi",
        ),
        (saw("some squirrels"), "he saw some squirrels", "ha visto degli scoiattoli"),
        (saw("the house of the gnome"), "he saw the house of the gnome", "ha visto la casa dello gnomo"),
        (
            saw("a very strong man with a black hat"),
            "he saw a very strong man with a black hat",
            "ha visto un uomo molto forte con un cappello nero",
        ),
    ]);
}

#[test]
fn prepositions() {
    let is = |place: &'static str| clause("the key", "be", Past).place(place).said();
    check(vec![
        (is("in the backpack"), "the key was in the backpack", "la chiave era nello zaino"),
        (is("under the chairs"), "the key was under the chairs", "la chiave era sotto le sedie"),
        (
            is("in front of the church"),
            "the key was in front of the church",
            "la chiave era davanti alla chiesa",
        ),
        (is("near the hotel"), "the key was near the hotel", "la chiave era vicino all'albergo"),
        (is("next to your shoes"), "the key was next to your shoes", "la chiave era accanto alle tue scarpe"),
        (is("far from the office"), "the key was far from the office", "la chiave era lontano dall'ufficio"),
        (is("on a stool"), "the key was on a stool", "la chiave era su uno sgabello"),
        (is("behind his desk"), "the key was behind his desk", "la chiave era dietro la sua scrivania"),
    ]);
}

#[test]
fn tenses_and_persons() {
    let eat = |who, tense| clause(who, "eat", tense).object("the apple").said();
    let go = |who, tense| clause(who, "go", tense).fixed("home").said();
    check(vec![
        (eat("i", Present), "i eat the apple", "mangio la mela"),
        (eat("you all", Progressive), "you all are eating the apple", "state mangiando la mela"),
        (eat("she", Past), "she ate the apple", "ha mangiato la mela"),
        (eat("we", Perfect), "we have eaten the apple", "abbiamo mangiato la mela"),
        (eat("they", Imperfect), "they were eating the apple", "mangiavano la mela"),
        (eat("you", Future), "you will eat the apple", "mangerai la mela"),
        (eat("he", Modal(Modal::Can)), "he can eat the apple", "può mangiare la mela"),
        (eat("i", Modal(Modal::Must)), "i must eat the apple", "devo mangiare la mela"),
        (eat("she", Modal(Modal::Want)), "she wants to eat the apple", "vuole mangiare la mela"),
        (eat("we", Modal(Modal::Wanted)), "we wanted to eat the apple", "volevamo mangiare la mela"),
        (eat("i", Modal(Modal::WouldLike)), "i would like to eat the apple", "vorrei mangiare la mela"),
        (go("she", Past), "she went home", "è andata a casa"),
        (go("the women", Perfect), "the women have gone home", "le donne sono andate a casa"),
        (go("the dogs", Present), "the dogs go home", "i cani vanno a casa"),
        (clause("she", "wake up", Perfect).said(), "she has woken up", "si è svegliata"),
        (clause("we", "get up", Future).said(), "we will get up", "ci alzeremo"),
        (
            clause("marco", "know/conoscere", Past).object("the city").said(),
            "marco knew the city",
            "marco conosceva la città",
        ),
        (
            clause("he", "be/have", Past).what(Complement::Having(idiom("hungry"))).said(),
            "he was hungry",
            "aveva fame",
        ),
    ]);
}

#[test]
fn negation_adverbs_and_times() {
    let read = |tense| clause("the boy", "read", tense).object("the book");
    check(vec![
        (
            read(Present).polarity(Not).said(),
            "the boy does not read the book",
            "il ragazzo non legge il libro",
        ),
        (
            read(Perfect).polarity(Never).said(),
            "the boy has never read the book",
            "il ragazzo non ha mai letto il libro",
        ),
        (
            read(Modal(Modal::Can)).polarity(Not).said(),
            "the boy cannot read the book",
            "il ragazzo non può leggere il libro",
        ),
        (
            read(Present).often("always").said(),
            "the boy always reads the book",
            "il ragazzo legge sempre il libro",
        ),
        (
            read(Imperfect).opening("yesterday").said(),
            "yesterday the boy was reading the book",
            "ieri il ragazzo leggeva il libro",
        ),
        (
            read(Future).fixed("next week").said(),
            "the boy will read the book next week",
            "il ragazzo leggerà il libro la settimana prossima",
        ),
        (
            clause("i", "come", Present).fixed("from italy").fixed("by train").said(),
            "i come from italy by train",
            "vengo dall'italia in treno",
        ),
    ]);
}

#[test]
fn pronouns() {
    let sees = |who, tense, whom| clause(who, "see", tense).it(whom).said();
    let give = |what| clause("he", "give", Past).what(what).said();
    check(vec![
        (sees("i", Present, Her), "i see her", "la vedo"),
        (sees("they", Present, You), "they see you", "ti vedono"),
        (sees("she", Perfect, Her), "she has seen her", "l'ha vista"),
        (sees("i", Past, Them), "i saw them", "li ho visti"),
        (sees("he", Future, YouAll), "he will see you all", "vi vedrà"),
        (clause("we", "open", Present).it(It).polarity(Not).said(), "we do not open it", "non lo apriamo"),
        (clause("she", "eat", Progressive).it(It).said(), "she is eating it", "lo sta mangiando"),
        (clause("you", "wait for", Past).it(Him).said(), "you waited for him", "l'hai aspettato"),
        (
            give(Complement::Give(np("the key"), np("anna"))),
            "he gave the key to anna",
            "ha dato la chiave ad anna",
        ),
        (give(Complement::GiveTo(np("the key"), Her)), "he gave the key to her", "le ha dato la chiave"),
        (
            give(Complement::GiveIt(It, np("the student"))),
            "he gave it to the student",
            "l'ha dato allo studente",
        ),
        (
            clause("i", "speak", Past).what(Complement::ToPronoun(Them)).said(),
            "i spoke to them",
            "gli ho parlato",
        ),
    ]);
}

fn there(tense: Tense, polarity: Polarity, what: &'static str) -> Clause {
    let adjuncts = cat().adjuncts;
    Clause::There(There { tense, polarity, phrase: np(what), adjuncts })
}

fn likes(who: &'static str, tense: Tense, polarity: Polarity, what: &'static str) -> Clause {
    Clause::Like(Like { liker: subject(who), tense, polarity, liked: np(what) })
}

#[test]
fn there_is_and_likes() {
    let said = |clause| Sentence::Statement(clause).realise().example();
    let asked = |clause| Sentence::YesNo(clause).realise().example();
    check(vec![
        (
            said(there(Present, Affirmative, "a cat")),
            "there is a cat on the table",
            "c'è un gatto sul tavolo",
        ),
        (
            said(there(Past, Not, "many cats")),
            "there were not many cats on the table",
            "non c'erano molti gatti sul tavolo",
        ),
        (
            said(there(Future, Affirmative, "six eggs")),
            "there will be six eggs on the table",
            "ci saranno sei uova sul tavolo",
        ),
        (
            asked(there(Present, Affirmative, "some bread")),
            "is there some bread on the table?",
            "c'è del pane sul tavolo?",
        ),
        (said(likes("i", Present, Affirmative, "the cat")), "i like the cat", "mi piace il gatto"),
        (
            said(likes("the boy", Present, Not, "the cats")),
            "the boy does not like the cats",
            "al ragazzo non piacciono i gatti",
        ),
        (
            asked(likes("you", Past, Affirmative, "the soup")),
            "did you like the soup?",
            "ti piaceva la zuppa?",
        ),
    ]);
}

#[test]
fn questions() {
    let apple = || clause("the boy", "eat", Past).object("the apple");
    check(vec![
        (cat().asked(), "is the cat on the table?", "il gatto è sul tavolo?"),
        (apple().asked(), "did the boy eat the apple?", "il ragazzo ha mangiato la mela?"),
        (
            clause("the cat", "be", Present).asked_with(QuestionWord::Where),
            "where is the cat?",
            "dov'è il gatto?",
        ),
        (
            clause("the cats", "be", Present).asked_with(QuestionWord::Where),
            "where are the cats?",
            "dove sono i gatti?",
        ),
        (
            clause("the cat", "eat", Present).asked_with(QuestionWord::What),
            "what does the cat eat?",
            "che cosa mangia il gatto?",
        ),
        (
            clause("who", "open", Perfect).object("the door").asked_with(QuestionWord::Subject),
            "who has opened the door?",
            "chi ha aperto la porta?",
        ),
        (
            clause("you", "meet", Past).asked_with(QuestionWord::Whom),
            "who did you meet?",
            "chi hai incontrato?",
        ),
        (
            apple().polarity(Not).asked_with(QuestionWord::Why),
            "why did the boy not eat the apple?",
            "perché il ragazzo non ha mangiato la mela?",
        ),
        (
            clause("anna", "leave", Future).asked_with(QuestionWord::When),
            "when will anna leave?",
            "quando partirà anna?",
        ),
        (
            clause("they", "go", Present).fixed("to school").asked_with(QuestionWord::How),
            "how do they go to school?",
            "come vanno a scuola?",
        ),
        (
            clause("you", "have", Present).asked_with(QuestionWord::HowMany(noun("chairs").0)),
            "how many chairs do you have?",
            "quante sedie hai?",
        ),
        (
            clause("she", "read", Progressive)
                .asked_with(QuestionWord::Which(noun("book").0, Number::Singular)),
            "which book is she reading?",
            "quale libro sta leggendo?",
        ),
    ]);
}

#[test]
fn joined_clauses() {
    let joined =
        |left, joint, right| Sentence::Joined(Box::new(left), joint, Box::new(right)).realise().example();
    let boy = || Clause::Verbal(clause("the boy", "sleep", Present));
    let is = || Clause::Verbal(clause("the boy", "be", Present).what(quality("tired")));
    let mut elided = clause("he", "be", Present).what(quality("happy"));
    elided.subject = crate::builtin::phrases::clause::Subject::Same(subject("the boy").agreement());
    check(vec![
        (
            joined(boy(), Joint::And, Clause::Verbal(elided)),
            "the boy sleeps and is happy",
            "il ragazzo dorme ed è felice",
        ),
        (
            joined(boy(), Joint::But, Clause::Verbal(clause("she", "work", Present))),
            "the boy sleeps but she works",
            "il ragazzo dorme ma lavora",
        ),
        (
            joined(boy(), Joint::Because, is()),
            "the boy sleeps because the boy is tired",
            "il ragazzo dorme perché il ragazzo è stanco",
        ),
        (
            joined(boy(), Joint::While, Clause::Weather(idiom("it is raining"))),
            "the boy sleeps while it is raining",
            "il ragazzo dorme mentre piove",
        ),
        (
            clause("anna", "say", Past).what(Complement::That(Box::new(is()))).said(),
            "anna said that the boy is tired",
            "anna ha detto che il ragazzo è stanco",
        ),
    ]);
}

#[test]
fn alignments_by_hand() {
    let fish = clause("he", "eat", Present).object("the fish").polarity(Not);
    let train = clause("i", "come", Present).fixed("from italy").fixed("by train");
    for (example, links) in [
        (cat().said(), "0-0 1-1 2-2 3-3 4-3 5-4"), // on the – sul
        (fish.said(), "0-1 1-0 2-0 3-1 4-2 5-3"),  // he – mangia, does not – non
        (clause("she", "see", Perfect).it(Her).said(), "0-1 1-1 2-2 3-0"),
        (clause("she", "see", Past).it(Her).said(), "0-1 1-1 1-2 2-0"),
        (
            clause("the boy", "read", Perfect).object("the red book").polarity(Never).said(),
            "0-0 1-1 2-3 3-2 3-4 4-5 5-6 6-8 7-7",
        ),
        (clause("the cat", "be", Present).asked_with(QuestionWord::Where), "0-0 1-1 2-2 3-3 4-4"),
        (clause("the cat", "eat", Present).asked_with(QuestionWord::What), "0-0 0-1 1-2 2-3 3-4 4-2 5-5"),
        (
            Sentence::Statement(likes("the boy", Present, Affirmative, "the cat")).realise().example(),
            "0-0 1-1 2-0 2-2 3-3 4-4",
        ),
        (
            Sentence::Statement(there(Present, Affirmative, "a cat")).realise().example(),
            "0-0 1-1 2-2 3-3 4-4 5-4 6-5",
        ),
        (
            clause("my brothers", "wake up", Future).fixed("next week").said(),
            "0-0 0-1 1-2 2-3 2-4 3-3 3-4 4-3 4-4 5-7 6-5 6-6",
        ),
        (train.said(), "0-0 1-0 2-1 3-2 4-3 5-4"),
    ] {
        let expected: Vec<Link> = links
            .split(' ')
            .map(|link| {
                let (source, target) = link.split_once('-').unwrap();
                Link { source: source.parse().unwrap(), target: target.parse().unwrap() }
            })
            .collect();
        assert_eq!(example.alignment.unwrap(), expected, "{} / {}", example.source, example.target);
    }
}
