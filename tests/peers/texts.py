"""The texts: for training the small vocabularies, and for the encoders to read."""

SENTENCES = [
    "The old ferryman crosses the river at night, and nobody in the village asks him why.",
    "A letter came from the harbour: the ship is late, the cargo wet, the captain ill.",
    "She counted the lamps along the quay and found one more than yesterday.",
    "In the morning the river stands so high that the mill cannot turn.",
    "Nobody had told the children that the bridge would open at noon.",
    "He writes slowly, crosses out half of it, and sends the rest by the night train.",
    "The captain asks for bread, salt and a map of the northern islands.",
    "When the bell rings twice, the ferry waits; when it rings once, it leaves.",
    "My sister keeps bees behind the station and sells honey to the travellers.",
    "It rained for eleven days, and on the twelfth the village smelled of wood and stone.",
    "The teacher reads the letter again, because the second page is missing.",
    "There are 24 houses, 3 wells and 1 church, says the map of 1887.",
    "The mill turns, the water sings, and the miller sleeps through both.",
    "You cannot see the islands from here, but you can smell the harbour.",
]

# A sentence of some forty tokens, so that attention in a window of 16 differs from attention to all.
SENTENCE = "The old ferryman crosses the river at night, and nobody in the village asks him why."

TEXTS = [
    ("empty", ""),
    ("word", "river"),
    ("sentence", SENTENCE),
    ("paragraph", " ".join(SENTENCES[:3])),
    ("long", " ".join(SENTENCES)),
    ("unknown", "Žluťoučký kůň: ½ ﬁsh, 漢字 e\u0301 🙂 a\u200bb\tZ  end"),
    ("special", "The [MASK] sat by the<mask> river [SEP] and </s> [CLS] waits<s> [UNK]"),
]

# For sentence models with prompts.
QUESTION = "Where does the ferry wait?"

# What masked language models fill in; MASK stands for the model's own token.
GAP = "The captain MASK for bread and MASK."
