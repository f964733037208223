//! What does not follow from rules: times, fixed places, manner, weather.
//!
//! An entry reads `english = italian`. Words that translate each other bear the same digit; a word
//! without a digit counts as 1.

use super::tense::Family;

/// When, by the tenses that it goes with.
pub(super) const TIMES: &[(Family, &str)] = &[
    (
        Family::Past,
        "yesterday = ieri, last1 week2 = la2 settimana2 scorsa1, last1 year2 = l'2 anno2 scorso1, \
         last1 month2 = il2 mese2 scorso1, this morning = stamattina, two1 days2 ago3 = due1 giorni2 fa3, \
         three1 years2 ago3 = tre1 anni2 fa3, yesterday1 evening2 = ieri1 sera2, on monday = lunedì, \
         on friday = venerdì, on sunday = domenica, today = oggi",
    ),
    (
        Family::Present,
        "today = oggi, now = adesso, every1 day2 = ogni1 giorno2, every1 morning2 = ogni1 mattina2, \
         every1 week2 = ogni1 settimana2, in1 the1 evening2 = di1 sera2, at1 night2 = di1 notte2, \
         in1 the1 morning2 = di1 mattina2, on1 sundays2 = la1 domenica2, on1 mondays2 = il1 lunedì2",
    ),
    (
        Family::Future,
        "tomorrow = domani, next1 week2 = la2 settimana2 prossima1, next1 year2 = l'2 anno2 prossimo1, \
         next1 month2 = il2 mese2 prossimo1, soon = presto, tonight = stasera, on monday = lunedì, \
         on friday = venerdì, on sunday = domenica, today = oggi",
    ),
];

/// Where one is, where one goes to, where one has got to.
pub(super) const AT: &str = "at1 home2 = a1 casa2, at1 school2 = a1 scuola2, here = qui, \
    at1 work2 = al1 lavoro2, in1 rome2 = a1 roma2, in1 milan2 = a1 milano2, in1 florence2 = a1 firenze2, \
    in1 venice2 = a1 venezia2, in1 paris2 = a1 parigi2, in1 italy2 = in1 italia2, in1 france2 = in1 francia2, \
    in1 the1 mountains2 = in1 montagna2, at1 the1 seaside2 = al1 mare2";
pub(super) const TOWARD: &str = "home = a casa, to1 school2 = a1 scuola2, to1 rome2 = a1 roma2, \
    to1 milan2 = a1 milano2, to1 florence2 = a1 firenze2, to1 venice2 = a1 venezia2, to1 paris2 = a1 parigi2, \
    to1 italy2 = in1 italia2, to1 france2 = in1 francia2, to1 the1 mountains2 = in1 montagna2, \
    to1 the1 seaside2 = al1 mare2";
pub(super) const FROM: &str = "from1 rome2 = da1 roma2, from1 milan2 = da1 milano2, from1 italy2 = dall'1 italia2, \
    from1 france2 = dalla1 francia2, from1 school2 = da1 scuola2, from1 work2 = dal1 lavoro2";

/// How one travels, and how one does things. The last two want to stand beside the verb, so they
/// go without an object.
pub(super) const TRAVEL: &str = "by1 train2 = in1 treno2, by1 car2 = in1 macchina2, by1 bus2 = in1 autobus2, \
    by1 bicycle2 = in1 bicicletta2, on1 foot2 = a1 piedi2, by1 plane2 = in1 aereo2";
pub(super) const MANNER: &str = "slowly = lentamente, \
    quickly = velocemente, quietly = tranquillamente, patiently = pazientemente, happily = felicemente, \
    well = bene, badly = male";

/// How often, beside the verb; *never* is not one of these.
pub(super) const FREQUENCY: &str = "always = sempre, often = spesso";

/// How much, before an adjective.
pub(super) const DEGREE: &str = "very = molto, too = troppo, so = così";

/// *Be* in English, *have* in Italian.
pub(super) const HAVING: &str = "hungry = fame, thirsty = sete, sleepy = sonno, afraid = paura, right = ragione, \
    wrong = torto, in1 a1 hurry1 = fretta1, twenty1 years2 old2 = vent'1 anni2, ten1 years2 old2 = dieci1 anni2";

/// The weather, a clause of its own.
pub(super) const WEATHER: &[(Family, &str)] = &[
    (Family::Past, "it was raining = pioveva, it was snowing = nevicava, it1 was1 cold2 = faceva1 freddo2"),
    (
        Family::Present,
        "it is raining = piove, it is snowing = nevica, it1 is1 cold2 = fa1 freddo2, it1 is1 hot2 = fa1 caldo2",
    ),
    (Family::Future, "it will rain = pioverà, it will snow = nevicherà, it1 will1 be1 cold2 = farà1 freddo2"),
];

/// Numbers from two on.
pub(super) const NUMBERS: &str = "two = due, three = tre, four = quattro, five = cinque, six = sei, seven = sette, \
    eight = otto, nine = nove, ten = dieci, twelve = dodici, twenty = venti";
