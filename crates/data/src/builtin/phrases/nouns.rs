//! The nouns, by what they stand for.
//!
//! An entry reads `english italian` with the gender (`m` or `f`) where the ending `-o` or `-a` does
//! not tell it, and with the plurals (`man/men uomo/uomini`) where the rules do not give them.

/// A set of [kinds](self) of things, one bit each: what a verb takes or an adjective describes.
pub(super) type Kinds = u32;

pub(super) const PERSON: Kinds = 1;
pub(super) const FAMILY: Kinds = 1 << 1;
pub(super) const ANIMAL: Kinds = 1 << 2;
pub(super) const FOOD: Kinds = 1 << 3;
pub(super) const DISH: Kinds = 1 << 4;
pub(super) const DRINK: Kinds = 1 << 5;
pub(super) const THING: Kinds = 1 << 6;
pub(super) const TEXT: Kinds = 1 << 7;
pub(super) const CLOTHES: Kinds = 1 << 8;
pub(super) const VEHICLE: Kinds = 1 << 9;
pub(super) const INSTRUMENT: Kinds = 1 << 10;
pub(super) const FURNITURE: Kinds = 1 << 11;
pub(super) const CONTAINER: Kinds = 1 << 12;
pub(super) const OPENING: Kinds = 1 << 13;
pub(super) const PLACE: Kinds = 1 << 14;
pub(super) const TALE: Kinds = 1 << 15;
pub(super) const TOPIC: Kinds = 1 << 16;
pub(super) const NATURE: Kinds = 1 << 17;
/// What cannot be counted: bread, water.
pub(super) const MASS: Kinds = 1 << 18;
/// What one has one of: a father.
pub(super) const SOLE: Kinds = 1 << 19;

pub(super) const PEOPLE: Kinds = PERSON | FAMILY;
pub(super) const ANIMATE: Kinds = PEOPLE | ANIMAL;
/// What one can carry and own.
pub(super) const GOODS: Kinds = THING | TEXT | CLOTHES | INSTRUMENT | CONTAINER;
pub(super) const OBJECTS: Kinds = GOODS | VEHICLE | FURNITURE | OPENING;
pub(super) const CONCRETE: Kinds = ANIMATE | OBJECTS | FOOD | PLACE | NATURE;

pub(super) const NOUNS: &[(Kinds, &str)] = &[
    (
        PERSON,
        "boy ragazzo, girl ragazza, man/men uomo/uomini m, woman/women donna, child/children bambino, \
         friend amico, teacher maestro, student studente m, doctor dottore m, nurse infermiera, cook cuoco, \
         waiter cameriere m, writer scrittore m, actor attore m, actress attrice f, singer cantante m, \
         artist artista m, scientist scienziato, psychologist psicologo/psicologi, farmer contadino, \
         lawyer avvocato, neighbor vicino, king re/re m, queen regina, soldier soldato, tourist turista m, \
         gnome gnomo, stranger sconosciuto, person/people persona, grocer droghiere m",
    ),
    (FAMILY | SOLE, "father padre m, mother madre f, husband marito, wife/wives moglie/mogli f"),
    (
        FAMILY,
        "brother fratello, sister sorella f, son figlio, daughter figlia, \
         uncle zio/zii, aunt zia, cousin cugino, grandfather nonno, grandmother nonna",
    ),
    (
        ANIMAL,
        "cat gatto, dog cane m, horse cavallo, bird uccello, mouse/mice topo, cow mucca, hen gallina, \
         duck anatra, goat capra, lion leone m, bear orso, wolf/wolves lupo, fox volpe f, monkey scimmia, \
         elephant elefante m, rabbit coniglio, squirrel scoiattolo, frog rana",
    ),
    (
        FOOD,
        "apple mela, orange arancia, egg uovo/uova m/f, banana banana, pear pera, potato patata, \
         tomato pomodoro, lemon limone m, peach pesca, onion cipolla, strawberry fragola",
    ),
    (FOOD | DISH, "cake torta, cookie biscotto, sandwich panino, pizza pizza"),
    (
        FOOD | MASS,
        "cheese formaggio, fish pesce m, meat carne f, yogurt yogurt m, honey miele m, ham prosciutto",
    ),
    (FOOD | DISH | MASS, "bread pane m, rice riso, soup zuppa, salad insalata"),
    (DRINK | MASS, "water acqua, milk latte m, wine vino, beer birra, coffee caffè m, tea tè m"),
    (
        THING,
        "key chiave f, cup tazza, plate piatto, glass bicchiere m, knife/knives coltello, spoon cucchiaio, \
         bottle bottiglia, lamp lampada, mirror specchio, umbrella ombrello, clock orologio, \
         computer computer m, telephone telefono, ball palla, toy giocattolo, gift regalo, pencil matita, \
         pen penna, coin moneta, ring anello, candle candela, photo/photos foto/foto f",
    ),
    (
        TEXT,
        "book libro, letter lettera, newspaper giornale m, magazine rivista, poem poesia, novel romanzo, \
         message messaggio, diary diario",
    ),
    (
        CLOTHES,
        "hat cappello, coat cappotto, shirt camicia, shoe scarpa, boot stivale m, scarf/scarves sciarpa, \
         skirt gonna, dress vestito, jacket giacca",
    ),
    (VEHICLE, "car macchina, train treno, bus autobus m, truck camion m, bicycle bicicletta"),
    (
        INSTRUMENT,
        "guitar chitarra, piano/pianos pianoforte m, violin violino, flute flauto, xylophone xilofono",
    ),
    (
        FURNITURE,
        "table tavolo, chair sedia, bed letto, bench panchina, desk scrivania, sofa divano, \
         carpet tappeto, stool sgabello",
    ),
    (CONTAINER, "box scatola, basket cesto, bag borsa, backpack zaino, suitcase valigia"),
    (OPENING, "door porta, window finestra, closet armadio"),
    (
        PLACE,
        "garden giardino, park parco, house casa, kitchen cucina, school scuola, market mercato, \
         shop negozio, hospital ospedale m, church chiesa, museum museo, library biblioteca, \
         station stazione f, square piazza, city città f, restaurant ristorante m, hotel albergo, \
         theater teatro, forest bosco, office ufficio, castle castello, zoo/zoos zoo/zoo m, stadium stadio",
    ),
    (TALE, "story storia, secret segreto, dream sogno"),
    (
        TOPIC,
        "problem problema m, idea idea, question domanda, answer risposta, exercise esercizio, \
         game gioco, mistake errore m, lesson lezione f, word parola, song canzone f",
    ),
    (NATURE, "tree albero, flower fiore m, mountain montagna, river fiume m, lake lago, bridge ponte m"),
];

/// First names, the same in both languages.
pub(super) const NAMES: &str =
    "anna f, maria f, giulia f, sofia f, elena f, marco m, paolo m, luca m, pietro m, antonio m";
