#include "properties/cli/explanations.hpp"

namespace assay::cli {
namespace {

constexpr Explanation diagnostic_texts[] = {
    {"A001", "an element outside its interval",
     "The oracle computes, for every output element, the closed interval of encodings that a correct kernel "
     "may produce\n"
     "under the contracts of the case; for a cast it is one code. The kernel's code is outside it. NaN is a "
     "class unless\n"
     "a contract pins the code; +0 and -0 are different codes.\n"
     "'assay repro' with the line of the diagnostic shows where the wrong elements are and how many codes "
     "outside; with\n"
     "--shrink it looks for the smallest case that fails in the same way: the same diagnostic, the same "
     "first "
     "pattern."},
    {"A002", "an element was never written",
     "Outputs are filled with a poison before the launch, and the case runs twice with complementary "
     "poisons. An element\n"
     "that holds the poison of both runs was not written by the kernel. A buffer that is updated in place "
     "holds the same\nbefore both runs instead, and an element that should have changed and did not is "
     "reported. Whole rows are reported\nas 'rows stale'."},
    {"A003", "a guard zone was written",
     "Every buffer lies between two guard zones. One of them changed: the kernel wrote before or past a "
     "buffer. The note\n"
     "gives the first byte written, relative to the buffer."},
    {"A004", "an input was modified", "The kernel wrote to a buffer that it may only read."},
    {"A005", "other kernels ran than the case requires",
     "For every case the family says which kernels a route launches and what it counts. The witness, "
     "recorded "
     "where kernels\nare launched, shows others: the route\n"
     "fell back to another implementation, or launched more or fewer kernels. Right numbers do not excuse "
     "it: what was\n"
     "claimed to be tested was not. The same code is given when the routes that a device lists, or the "
     "kernels they\n"
     "declare, are not those that the family requires."},
    {"A006", "two runs of one case differ",
     "The case ran twice over different poisons and, on the cpu device, with lanes and blocks in another "
     "order and shared\n"
     "memory filled differently. An element that moves depends on a race, on memory nobody wrote, or on the "
     "order."},
    {"A007", "cpu and cuda bits differ",
     "The same kernel source gave different bits on the executor and on the GPU. Usual causes: a contracted "
     "multiply-add,\n"
     "a flush of subnormals, a PTX wrapper whose host twin is wrong (see the battery 'wrappers'), a race."},
    {"A008", "an injected fault was not rejected",
     "Before a pass is given, the smallest relevant faults (one code up or down, a zeroed element, a stale "
     "row, a scale\n"
     "off by one, ...) are injected into a copy of the output, and the check must reject each. One was "
     "accepted, or none\n"
     "could be injected, so the pass would be worth nothing."},
    {"A009", "a route takes other cases than the family's rule says",
     "What each route takes is stated twice: by the route, and by the family's judge without asking the "
     "route. The route\n"
     "refused a case that it has to take, took one that it has to refuse, or gave another reason. So a route "
     "cannot shrink\n"
     "what it supports, and be judged on less, by an edit on the kernels' side alone."},
    {"A010", "the kernel was stopped",
     "The executor found a fault of the kernel (a divergent barrier, a mismatched mask, a read of an exited "
     "lane, a\n"
     "deadlock, an access out of bounds), or the device reported an error. The summary names kernel, block "
     "and lane."},
    {"A011", "a property does not hold",
     "A relation between cases, or a judgement over random cases, failed. The case shown is the smallest "
     "that still fails."},
    {"A012", "an element that had to stay untouched was written",
     "Under the contract padding=untouched the bytes of the scale buffer outside [rows, blocks] must hold "
     "what they held.\nOf a pool of states so must the slots that no sequence has."},
    {"A013", "approved and computed bits differ",
     "A golden record holds bits that were approved once, or that a device left once. The oracle, or a "
     "route, computes\n"
     "others today. A record that is missing, and a file that nothing names, have this code too."},
    {"A014", "a PTX wrapper and its host twin differ",
     "Each PTX wrapper has a twin in integer code that the executor runs. They must agree for every input."},
    {"A015", "routes that are timed side by side have different bits",
     "Before anything is timed, every route of a benchmark runs once over the same poison, and all outputs "
     "have to be\n"
     "equal bit for bit: the speed of wrong numbers is worth nothing. The repro line judges the case with "
     "its oracle,\n"
     "which says which route is wrong."},
};

constexpr Explanation pattern_texts[] = {
    {"truncation", "rounded toward zero",
     "Bits below the last mantissa bit were cut off in place of rounding to nearest even."},
    {"ties away from zero", "rounded half away",
     "Values halfway between two codes went up in magnitude in place of to the even code."},
    {"double rounding", "rounded twice",
     "The value went through fp16 on its way to fp8; values just above a midpoint then fall to the even "
     "code."},
    {"overflow to NaN", "not saturated",
     "The contract saturates at the largest finite code; the kernel produced NaN or Inf."},
    {"subnormal flushed", "subnormals became zero",
     "Codes of the element format's subnormal range came out as zero."},
    {"sign of zero lost", "-0 became +0",
     "A negative zero, or a negative value that rounds to zero, keeps its sign bit."},
    {"NaN dropped by max", "amax ignores a NaN",
     "PTX max without .NaN returns the other operand, so a block with one NaN gets a finite scale."},
    {"scale off by one", "a neighbouring power of two", "The e8m0 byte is one too high or too low."},
    {"exponent taken after the division", "floor(log2(amax / max))",
     "floor(log2 amax) - emax and floor(log2(amax / max)) differ for 96 of 128 bf16 mantissas (e4m3)."},
    {"exact power of two doubled", "frexp-like exponent",
     "frexp returns a mantissa in [0.5, 1), so an exact power of two gets twice its scale."},
    {"reciprocal of 254 flushed", "2^-127 taken as zero",
     "The reciprocal of scale byte 254 is subnormal in fp32; with flush-to-zero, Inf * 0 becomes NaN."},
    {"reciprocal of 0 taken as 1", "scale byte 0", "Scale byte 0 means 2^-127, its reciprocal 2^127."},
    {"zero block divided by zero", "0/0", "A block of zeros has scale byte 0 and data of +0 or -0."},
    {"logical stride", "padded buffer, unpadded index",
     "Scales were stored, or read, at row * blocks + block in a buffer whose rows are further apart."},
    {"scales transposed", "column by column",
     "The scales lie, or were read, as those of the transposed matrix of blocks would."},
    {"swizzle ignored", "linear scales in a swizzled buffer",
     "The scales lie, or were read, row by row where a block-scaled GEMM reads tiles of 128 x 4."},
    {"swizzle transposed", "a swizzled index with its parts exchanged",
     "idx(i, j) = ((i/128) * nX + j/4) * 512 + (i%32) * 16 + ((i%128)/32) * 4 + j%4; i and j, or (i%128)/32 "
     "and j%4,\nchanged places."},
    {"blocks along the wrong dimension", "rowwise for colwise",
     "The data is that of a cast whose blocks of 32 lie along the other dimension of X."},
    {"last element left out of amax", "a loop that ends one early",
     "The last element of each block does not count for its scale."},
    {"tile of another place", "the wrong stage or tile of a pipeline",
     "Every wrong 32 x 32 tile of data holds what is right for another tile."},
    {"scale 0 flushed", "2^-127 taken as zero",
     "Scale byte 0 means 2^-127, which is subnormal in fp32; with flush-to-zero every product is zero."},
    {"scale 0 taken as 1", "scale byte 0", "Scale byte 0 means 2^-127, not 1."},
    {"scale 254 taken as Inf", "scale byte 254", "Scale byte 254 means 2^127, which fp32 holds."},
    {"scale 254 flushed", "scale byte 254", "Scale byte 254 means 2^127; every product came out as zero."},
    {"scale 255 taken as Inf", "NaN read as an exponent",
     "Scale byte 255 is NaN. Shifted into the exponent of fp32 it is Inf, and only zeros become NaN."},
    {"scale 255 taken as a number", "NaN read as 2^128",
     "Scale byte 255 is NaN and makes every element NaN."},
    {"NaN or Inf decoded as a number", "top exponent field read as ordinary",
     "e4m3 0x7F came out as 480, or e5m2 0x7C to 0x7F as 2^16 and up."},
    {"pairs swapped", "neighbours exchanged",
     "A packed conversion takes its low byte to the low half; here the two elements changed places."},
    {"subnormal output flushed", "subnormal results became zero",
     "Results in the output format's subnormal range came out as zero."},
    {"overflow saturated", "not Inf",
     "A product beyond the output format is Inf; its largest value came out."},
    {"last partial block dropped", "a short block was left out",
     "Where a dimension is no multiple of 32, its last block holds the elements that there are."},
    {"rows stale", "rows were never written",
     "Whole rows still hold what the buffer held before the launch."},
    {"elements stale", "elements were never written",
     "Some elements still hold what the buffer held before the launch."},
    {"padding written", "padding had to stay untouched", "See A012."},
    {"untouched elements written", "of a buffer that is updated in place", "See A012."},
    {"route fell back", "another route's kernels ran", "See A005."},
    {"other launches", "not the kernels of any route",
     "The kernels that ran, or how many times, are those of no route for this case. See A005."},
    {"other counters", "the right kernels, other decisions",
     "The right kernels ran, but the route counted other decisions than the case calls for. See A005."},
    {"rows 1.. stale", "row 0 was taken for the whole result",
     "One launch a row began at the address of the whole result and was let narrow it by itself; the launch "
     "that\nnarrows the other rows was left out, and they hold what was there before."},
    {"rows repeat row 0", "the row index was lost", "Every row of Y holds what is right for row 0."},
    {"columns shifted", "off by one along N", "Every column of Y holds what is right for its neighbour."},
    {"columns exchanged", "2j for 2j + 1", "Neighbouring columns hold what is right for each other."},
    {"weights in another order", "interleaved for raw, or the reverse",
     "One GEMV reads the eight codes of a word as they are stored, the other interleaved beforehand; one was "
     "given the\nother's."},
    {"last columns unwritten", "a ragged N", "The columns past the last whole group were not written."},
    {"whole columns wrong", "a fault of some columns",
     "Some columns are wrong in every row, the others right: their weights, scales, zero points or bias."},
    {"nibbles swapped", "the odd code from the low bits", "The even element lies in the low bits of a byte."},
    {"codes off by one", "q - 1 for q",
     "Every code was taken one too low, as a signed path with a bias of 7 does."},
    {"codes taken as signed", "two's complement", "Codes are unsigned, and their zero point is subtracted."},
    {"zero point ignored", "z = 0", "Without zero points z is 2^(bits - 1), not 0."},
    {"zero point left at its default", "z = 2^(bits - 1)", "Zero points are given and were not read."},
    {"zero points swapped", "of a pair of blocks", "The even block lies in the low bits of a byte."},
    {"zero point rows without padding", "a linear index of packed zero points",
     "Each column's zero points begin a byte of their own, so an odd number of blocks leaves bits unused."},
    {"weight rows without padding", "row stride k * bits / 8",
     "The last block of a column is stored whole, also where K cuts it off."},
    {"scale of the next block", "off by one along the blocks", "Every block has its own scale."},
    {"scale ignored", "1 for every scale", "Invisible where every scale is 1."},
    {"tail dropped", "elements past the last whole group", "K need be no multiple of 8, or of the block."},
    {"last block dropped", "a loop that ends one block early",
     "The last block of K is missing from the sum."},
    {"last slice dropped", "a partial sum is missing", "The slices of K are added up to the last."},
    {"first slice alone", "all other partial sums are missing", "Only the first slice of K was added."},
    {"bias dropped", "no bias", "A bias was given and not added."},
    {"bias rounded otherwise", "once for twice",
     "fp16(acc + bias) and fp16(fp16(acc) + bias) differ; which of them holds is a contract of the case."},
    {"stored without fp16", "bf16(acc) for bf16(fp16(acc))",
     "A direct store must round as staging does, through fp16: 1 + 2^-8 + 2^-12 gives 0x3F80, magnitudes "
     "from "
     "65520 on\ngive Inf, and up to 2^-25 zero."},
    {"zero point hoisted", "q * s - z * s", "In fp16 both terms overflow where (q - z) * s does not."},
    {"weights not rounded", "products of unrounded weights", "The schedule rounds a weight to fp16 first."},
    {"accumulated in fp32", "lane sums in fp32", "The schedule keeps the sums of a lane in fp16."},
    {"other pairs", "(2p, 2p+1) for (p, p+4)",
     "Elements were paired for the two sums of a lane as another schedule has them, so each sum rounds "
     "otherwise."},
    {"lever without effect", "staging was not restored",
     "Under the lever that restores staging a node makes no offer, and no kernel stores bf16 itself."},
    {"offer withheld", "no offer without the lever",
     "A node of a bf16 model offers a direct store unless the lever says otherwise."},
    {"cast left out", "a staged result was not narrowed",
     "Under the lever every node of a bf16 model ends with one launch of narrow_staging."},
    {"cast after a direct store", "the launch that the direct store replaces",
     "Direct stores were accepted, and as many casts ran as without them: each wrote staging over the "
     "result."},
    {"casts against direct stores", "two counts that must agree",
     "The casts that the lever brings back are the direct stores that were accepted without it, one each."},
    {"counter against launches", "cast.launches is not the launches of narrow_staging",
     "A counter is what code says that it did, a launch is what the launch layer saw."},
    {"direct store of several rows", "one launch claimed the result of many",
     "Of a node of several rows a GEMV writes one, and a matrix product has no bf16 store. An offer keyed on "
     "the pointer\nalone is taken by row 0, which begins there, and the other rows stay stale."},
    {"direct store declined", "a GEMV of one row staged its result",
     "A GEMV of the only row writes the whole result and can narrow it, so it has to accept."},
    {"offer accepted twice", "more direct stores than offers",
     "A node makes one offer; it can be taken once."},
    {"direct store differs from staging", "other bits with the lever",
     "A direct store rounds as staging does, to fp16 and from there to bf16; bf16 from the sum differs in "
     "one "
     "code for\nabout one result of sixteen."},
    {"tokens differ", "greedy decode is not reproduced",
     "The same small decoder gave other tokens with the lever, or on the other device."},
    {"error before decay", "v - S^T k of the old state",
     "The state is decayed first; what it predicts for v is read from the decayed one."},
    {"output before update", "o without this step's update",
     "o is read from the state after the rank-1 update."},
    {"state transposed", "[K,V] for [V,K]", "The two layouts hold the same numbers, k and v exchanged."},
    {"key head modulo", "h % H for h / (HV / H)", "Neighbouring value heads share a key head."},
    {"decay exponentiated twice", "exp(exp(g))", "g is the logarithm of the decay, also where it is given."},
    {"decay ignored", "alpha = 1", "Invisible where the state is zero."},
    {"beta rounded", "bf16 for fp32", "Whether beta is rounded to bf16 is a contract of the case."},
    {"beta not rounded", "fp32 for bf16", "Whether beta is rounded to bf16 is a contract of the case."},
    {"beta ignored", "beta = 1", "The correction of the state is beta times the error."},
    {"scale of q ignored", "1 for the scale",
     "q is multiplied by K^-1/2, or by another scale, once it is "
     "normalised."},
    {"norms ignored", "q and k as they are", "q and k are divided by the roots of their sums of squares."},
    {"epsilon ignored", "nothing added to a sum of squares", "It shows where a sum of squares is near it."},
    {"epsilon of the other contract", "1e-12 for 1e-6, or the reverse", "Epsilon is a contract of the case."},
    {"epsilon outside the root", "sqrt(sum) + eps",
     "Epsilon is added to the sum of squares, under the root."},
    {"softplus linear", "x for softplus(x)", "Right only far above zero."},
    {"dt_bias ignored", "softplus(a)", "dt_bias of the head is added to a first."},
    {"sign of g lost", "the state grows", "g is minus exp(A_log) times softplus."},
    {"slots ignored", "sequence i in slot i", "Invisible where slots are in order."},
    {"state not written", "the state kept what it was",
     "Every output is right, and the next step's will not be."},
    {"output of the rounded state", "o after the state was rounded",
     "o is read from the state before that is rounded to bf16."},
    {"state not rounded between steps", "rounded after the last step alone",
     "A bf16 state is rounded after every step: several steps in one launch give the bits of as many "
     "launches."},
    {"not fused", "two roundings for one", "The schedule's fma rounds once."},
    {"first step alone", "a loop over steps that ends early", "Later steps left nothing behind."},
    {"output alone wrong", "the states are right",
     "What o is read by is wrong: q, its norm, its sums, its store."},
    {"state alone wrong", "the outputs are right",
     "The write of the state is wrong, or its rounding or place."},
    {"first step right", "later steps are not",
     "What is carried from step to step, or indexed by it, is wrong."},
    {"some value heads wrong", "a fault of some heads",
     "The other heads are right in every sequence and step."},
    {"some columns of V wrong", "a fault of some columns",
     "The other columns are right in every head: columns do not depend on each other."},
    {"some rows of K wrong", "a fault of some rows of the state",
     "o is right, so the sums had the right rows."},
    {"another device", "the witness names another device than was to run",
     "A comparison of two devices, one of which is not where it is said to be, compares a run with itself."},
};

constexpr Explanation term_texts[] = {
    {"case", "one input point, as a line of text",
     "FAMILY[/ROUTE][@DEVICE]:key=value,...[;zeros][;BUFFER[ELEMENT]=CODES]...\n"
     "The keys are those of the family; what is left out has its default. `zeros` fills every buffer the "
     "case "
     "begins with,\n"
     "then codes are set: hexadecimal, parted by spaces, CODE*n for n of the same. Without ROUTE and DEVICE "
     "it "
     "is of all.\n"
     "The same text is the same bits on every machine. `assay gate --case TEXT` judges it."},
    {"case file", "a case with its tensors, for others to run",
     "As `assay cases` writes it: the inputs of one case, named like the operator's buffers, with the case's "
     "text as\n`assay.case` and what is expected back as `assay.outputs`. `assay judge CASE OUTPUTS` judges "
     "what somebody\ncomputed from it under the contracts of its case; `assay repro CASE` runs the kernels "
     "on it."},
    {"reading", "contracts under which tensors can be judged",
     "One value for every contract, and for every format that the tensors leave open. `assay judge` tries "
     "all readings that\n--contract and the tensors allow. One is consistent when no element is wrong under "
     "it and every injected\nfault would have been seen. Several can be: the tensors cannot tell them "
     "apart."},
    {"captured fixture", "a report that every gate replays",
     "A file fixtures/FAMILY/captured/ID.json: cases with their origin and class, written by `assay "
     "capture`. "
     "Every gate of\n"
     "the family replays all of them before its own cases, whatever its level and shard, on every route and "
     "device that they\n"
     "name. `right` in it is what the report says is right. Kernels are judged by the oracle, which has to "
     "agree with it.\n"
     "A file that cannot be read or says otherwise than the oracle stops the gate with exit code 2."},
    {"contract", "a choice that public implementations make differently",
     "A key of the case, as `rule=floor` or `schedule=mma`. The oracle computes intervals under the "
     "contracts of the case,\n"
     "golden records keep them, and nothing is compared across different ones. `assay judge` says which "
     "contracts tensors\n"
     "fit; --contract names those that are known."},
    {"route", "one implementation of a family's operator",
     "The production kernels, the legacy ones that they replace, or code that picks between them by the "
     "case, as `dispatch`\n"
     "does. Each is judged by the same oracle, on every device that has it. The family's rule says which "
     "cases a route has\n"
     "to take and what its witness has to show. `assay list` names all of them."},
    {"witness", "the record of what really ran",
     "What the launch layer saw and the route counted: every launch with the name and grid of its kernel, "
     "the counters, the\n"
     "device and the build id. The family says for every case what that has to be. Anything else is A005, "
     "however right the\n"
     "numbers are."},
    {"injected fault", "a small error that the check makes itself and has to find",
     "Before an output passes, it is damaged in the smallest ways: a code one up or down, an element zeroed, "
     "a stale row, a\n"
     "scale off by one. Each has to be rejected. A008 says that one was accepted, or that none could be "
     "made."},
    {"vacuous", "a run that showed nothing: exit code 3, no pass",
     "No element was compared, in the whole run or, of all built-in cases, in a row of the table; or none of "
     "them led to\n"
     "some kernel of a route; or everything that was to be updated in place was right before. Of `assay "
     "judge` also: right\n"
     "to the bit under no reading, and only inside error bounds that --contract did not ask for."},
};

}  // namespace

std::span<const Explanation> diagnostics() { return diagnostic_texts; }
std::span<const Explanation> patterns() { return pattern_texts; }
std::span<const Explanation> terms() { return term_texts; }

}  // namespace assay::cli
