"""The ids every vocabulary begins with."""

PAD = 0  # padding; never a target. Its vector is zero, so it is also what a decoder starts from
EOS = 1  # the end of a sequence
UNK = 2  # what the vocabulary has no word for
RESERVED = 3  # how many there are: a vocabulary's own symbols begin here
START = PAD

NAMES = ("<pad>", "<eos>", "<unk>")  # for a person to look at; never looked for in a text
UNKNOWN = "⁇"  # what stands in decoded text where the vocabulary had no word
