//! The verbs, and what goes with each.
//!
//! English is given as base, past, participle and `-ing` form, and the little word that belongs to
//! the verb (*look for*). Italian is the infinitive; `-si` makes it reflexive.

use super::nouns::*;

/// How a verb's past is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aspect {
    /// *ate* is passato prossimo, *was eating* is imperfetto, *is eating* is stare + gerund.
    Action,
    /// Like an action, without the *-ing* forms: *found*.
    Event,
    /// *knew* is imperfetto; no other past and no *-ing* form.
    State,
}

/// What follows a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// Nothing but adjuncts.
    Alone,
    /// A direct object of one of these kinds.
    Object(Kinds),
    /// A direct object and the one who gets it.
    Give(Kinds),
    /// The one spoken to: *to the boy*.
    Speak,
    /// A direct object and where it goes.
    Put(Kinds),
    /// Where to, or where from: *to the park*.
    Toward,
    /// Where one gets: *at the park*.
    Arrive,
    /// Where: *in the park*.
    Stay,
    /// A clause after *that*.
    Say,
}

use Aspect::*;
use Frame::*;

/// English, Italian, aspect, who does it, what follows.
pub(super) type VerbEntry = (&'static str, &'static str, Aspect, Kinds, Frame);

pub(super) const VERBS: &[VerbEntry] = &[
    ("eat ate eaten eating", "mangiare", Action, ANIMATE, Object(FOOD)),
    ("drink drank drunk drinking", "bere", Action, ANIMATE, Object(DRINK)),
    ("see saw seen seeing", "vedere", Event, ANIMATE, Object(CONCRETE)),
    ("find found found finding", "trovare", Event, ANIMATE, Object(GOODS | FOOD)),
    ("lose lost lost losing", "perdere", Event, PEOPLE, Object(GOODS)),
    ("forget forgot forgotten forgetting", "dimenticare", Event, PEOPLE, Object(GOODS | TOPIC)),
    ("understand understood understood understanding", "capire", Event, PEOPLE, Object(TOPIC | TALE | TEXT)),
    ("read read read reading", "leggere", Action, PEOPLE, Object(TEXT)),
    ("write wrote written writing", "scrivere", Action, PEOPLE, Object(TEXT)),
    ("buy bought bought buying", "comprare", Action, PEOPLE, Object(GOODS | FOOD | VEHICLE)),
    ("take took taken taking", "prendere", Action, PEOPLE, Object(GOODS)),
    ("open opened opened opening", "aprire", Action, PEOPLE, Object(OPENING | CONTAINER)),
    ("close closed closed closing", "chiudere", Action, PEOPLE, Object(OPENING | CONTAINER)),
    ("wash washed washed washing", "lavare", Action, PEOPLE, Object(CLOTHES | VEHICLE)),
    ("clean cleaned cleaned cleaning", "pulire", Action, PEOPLE, Object(PLACE | FURNITURE)),
    ("make made made making", "fare", Action, PEOPLE, Object(DISH)),
    ("cut cut cut cutting", "tagliare", Action, PEOPLE, Object(FOOD)),
    ("meet met met meeting", "incontrare", Event, PEOPLE, Object(PEOPLE)),
    ("help helped helped helping", "aiutare", Action, PEOPLE, Object(ANIMATE)),
    ("call called called calling", "chiamare", Action, PEOPLE, Object(ANIMATE)),
    ("follow followed followed following", "seguire", Action, ANIMATE, Object(ANIMATE)),
    ("visit visited visited visiting", "visitare", Action, PEOPLE, Object(PLACE)),
    ("look looked looked looking for", "cercare", Action, ANIMATE, Object(GOODS | ANIMATE)),
    ("look looked looked looking at", "guardare", Action, ANIMATE, Object(CONCRETE)),
    ("wait waited waited waiting for", "aspettare", Action, PEOPLE, Object(PEOPLE | VEHICLE)),
    ("play played played playing", "suonare", Action, PEOPLE, Object(INSTRUMENT)),
    ("love loved loved loving", "amare", State, PEOPLE, Object(ANIMATE | PLACE | TEXT)),
    ("know knew known knowing", "conoscere", State, PEOPLE, Object(PEOPLE | TALE | PLACE)),
    ("want wanted wanted wanting", "volere", State, ANIMATE, Object(FOOD | DRINK | GOODS)),
    ("have had had having", "avere", State, PEOPLE, Object(GOODS | ANIMAL | FOOD | TOPIC)),
    ("give gave given giving", "dare", Action, PEOPLE, Give(GOODS | FOOD)),
    ("send sent sent sending", "mandare", Action, PEOPLE, Give(TEXT | CLOTHES)),
    ("show showed shown showing", "mostrare", Action, PEOPLE, Give(OBJECTS)),
    ("sell sold sold selling", "vendere", Action, PEOPLE, Give(GOODS | VEHICLE)),
    ("bring brought brought bringing", "portare", Action, PEOPLE, Give(GOODS | FOOD | DRINK)),
    ("explain explained explained explaining", "spiegare", Action, PEOPLE, Give(TOPIC)),
    ("tell told told telling", "raccontare", Action, PEOPLE, Give(TALE)),
    ("speak spoke spoken speaking", "parlare", Action, PEOPLE, Speak),
    ("write wrote written writing", "scrivere", Action, PEOPLE, Speak),
    ("put put put putting", "mettere", Action, PEOPLE, Put(GOODS)),
    ("sleep slept slept sleeping", "dormire", Action, ANIMATE, Alone),
    ("work worked worked working", "lavorare", Action, PEOPLE, Alone),
    ("walk walked walked walking", "camminare", Action, ANIMATE, Alone),
    ("run ran run running", "correre", Action, ANIMATE, Alone),
    ("sing sang sung singing", "cantare", Action, PEOPLE, Alone),
    ("dance danced danced dancing", "ballare", Action, PEOPLE, Alone),
    ("study studied studied studying", "studiare", Action, PEOPLE, Alone),
    ("play played played playing", "giocare", Action, ANIMATE, Alone),
    ("leave left left leaving", "partire", Action, PEOPLE, Toward),
    ("wake woke woken waking up", "svegliarsi", Event, ANIMATE, Alone),
    ("get got gotten getting up", "alzarsi", Event, PEOPLE, Alone),
    ("have had had having fun", "divertirsi", Action, PEOPLE, Alone),
    ("fall fell fallen falling asleep", "addormentarsi", Event, ANIMATE, Alone),
    ("sit sat sat sitting down", "sedersi", Event, PEOPLE, Alone),
    ("go went gone going", "andare", Action, ANIMATE, Toward),
    ("come came come coming", "venire", Action, ANIMATE, Toward),
    ("return returned returned returning", "tornare", Action, ANIMATE, Toward),
    ("arrive arrived arrived arriving", "arrivare", Action, ANIMATE | VEHICLE, Arrive),
    ("stay stayed stayed staying", "restare", Event, ANIMATE, Stay),
    ("live lived lived living", "abitare", State, PEOPLE, Stay),
    ("say said said saying", "dire", Event, PEOPLE, Say),
    ("know knew known knowing", "sapere", State, PEOPLE, Say),
];

/// *Be* in both languages; *be hungry*, which is *avere fame*; *like*, whose Italian turns around.
pub(super) const BE: VerbEntry = ("be was been being", "essere", State, CONCRETE, Alone);
pub(super) const BE_WITH: VerbEntry = ("be was been being", "avere", State, ANIMATE, Alone);
pub(super) const LIKE: VerbEntry = ("like liked liked liking", "piacere", State, ANIMATE, Alone);
