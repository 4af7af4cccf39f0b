package io.postroom.deadletter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.testkit.Messages;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class JsonPatchTest {

    /** Every example of RFC 6902, appendix A, that changes something. */
    static Stream<Arguments> examples() {
        return Stream.of(
                Arguments.of(
                        "A.1 adding an object member",
                        "{'foo':'bar'}",
                        "[{'op':'add','path':'/baz','value':'qux'}]",
                        "{'foo':'bar','baz':'qux'}"),
                Arguments.of(
                        "A.2 adding an array element",
                        "{'foo':['bar','baz']}",
                        "[{'op':'add','path':'/foo/1','value':'qux'}]",
                        "{'foo':['bar','qux','baz']}"),
                Arguments.of(
                        "A.3 removing an object member",
                        "{'baz':'qux','foo':'bar'}",
                        "[{'op':'remove','path':'/baz'}]",
                        "{'foo':'bar'}"),
                Arguments.of(
                        "A.4 removing an array element",
                        "{'foo':['bar','qux','baz']}",
                        "[{'op':'remove','path':'/foo/1'}]",
                        "{'foo':['bar','baz']}"),
                Arguments.of(
                        "A.5 replacing a value",
                        "{'baz':'qux','foo':'bar'}",
                        "[{'op':'replace','path':'/baz','value':'boo'}]",
                        "{'baz':'boo','foo':'bar'}"),
                Arguments.of(
                        "A.6 moving a value",
                        "{'foo':{'bar':'baz','waldo':'fred'},'qux':{'corge':'grault'}}",
                        "[{'op':'move','from':'/foo/waldo','path':'/qux/thud'}]",
                        "{'foo':{'bar':'baz'},'qux':{'corge':'grault','thud':'fred'}}"),
                Arguments.of(
                        "A.7 moving an array element",
                        "{'foo':['all','grass','cows','eat']}",
                        "[{'op':'move','from':'/foo/1','path':'/foo/3'}]",
                        "{'foo':['all','cows','eat','grass']}"),
                Arguments.of(
                        "A.8 testing a value",
                        "{'baz':'qux','foo':['a',2,'c']}",
                        "[{'op':'test','path':'/baz','value':'qux'},{'op':'test','path':'/foo/1','value':2}]",
                        "{'baz':'qux','foo':['a',2,'c']}"),
                Arguments.of(
                        "A.10 adding a nested member object",
                        "{'foo':'bar'}",
                        "[{'op':'add','path':'/child','value':{'grandchild':{}}}]",
                        "{'foo':'bar','child':{'grandchild':{}}}"),
                Arguments.of(
                        "A.11 ignoring unrecognized elements",
                        "{'foo':'bar'}",
                        "[{'op':'add','path':'/baz','value':'qux','xyz':123}]",
                        "{'foo':'bar','baz':'qux'}"),
                Arguments.of(
                        "A.14 ~ escape ordering",
                        "{'/':9,'~1':10}",
                        "[{'op':'test','path':'/~01','value':10}]",
                        "{'/':9,'~1':10}"),
                Arguments.of(
                        "A.16 adding an array value",
                        "{'foo':['bar']}",
                        "[{'op':'add','path':'/foo/-','value':['abc','def']}]",
                        "{'foo':['bar',['abc','def']]}"),
                Arguments.of(
                        "copy",
                        "{'a':{'b':1}}",
                        "[{'op':'copy','from':'/a','path':'/c'},{'op':'replace','path':'/c/b','value':2}]",
                        "{'a':{'b':1},'c':{'b':2}}"),
                Arguments.of("the whole", "{'a':1}", "[{'op':'replace','path':'','value':[1]}]", "[1]"),
                Arguments.of(
                        "add over a name", "{'a':1,'b':2}", "[{'op':'add','path':'/a','value':3}]", "{'a':3,'b':2}"),
                Arguments.of("an empty name", "{'':1}", "[{'op':'replace','path':'/','value':2}]", "{'':2}"),
                Arguments.of(
                        "move to itself", "{'a':1,'b':2}", "[{'op':'move','from':'/a','path':'/a'}]", "{'a':1,'b':2}"),
                Arguments.of("replace an item", "[1,2]", "[{'op':'replace','path':'/1','value':null}]", "[1,null]"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("examples")
    void changesPayloadsAsTheStandardSays(String title, String payload, String patch, String expected) {
        assertThat(apply(payload, patch)).isEqualTo(new JsonPatch.Result.Applied(json(expected)));
    }

    static Stream<Arguments> misfits() {
        return Stream.of(
                Arguments.of(
                        "{'baz':'qux'}",
                        "[{'op':'test','path':'/baz','value':'bar'}]",
                        "operation 1 (test /baz): the value"),
                Arguments.of("{'foo':'bar'}", "[{'op':'add','path':'/baz/bat','value':'qux'}]", "no value at /baz/bat"),
                Arguments.of(
                        "{'/':9,'~1':10}", "[{'op':'test','path':'/~01','value':'10'}]", "the value there is another"),
                Arguments.of(
                        "{'a':1}", "[{'op':'remove','path':'/b'}]", "operation 1 (remove /b): there is no value at /b"),
                Arguments.of("{'a':1}", "[{'op':'replace','path':'/b','value':1}]", "there is no value at /b"),
                Arguments.of("{'a':[1]}", "[{'op':'add','path':'/a/2','value':1}]", "the array above /a/2 has 1 items"),
                Arguments.of(
                        "{'a':[1]}", "[{'op':'add','path':'/a/01','value':1}]", "the array above /a/01 has 1 items"),
                Arguments.of("{'a':[1]}", "[{'op':'remove','path':'/a/-'}]", "there is no value at /a/-"),
                Arguments.of("{'a':[1]}", "[{'op':'add','path':'/a/99999999999','value':1}]", "has 1 items"),
                Arguments.of("{'a':1}", "[{'op':'add','path':'/a/b','value':1}]", "neither object nor array"),
                Arguments.of(
                        "{'a':1}",
                        "[{'op':'copy','from':'/x','path':'/y'}]",
                        "operation 1 (copy /x to /y): there is no"),
                Arguments.of(
                        "{'a':1}",
                        "[{'op':'add','path':'/b','value':1},{'op':'test','path':'/a','value':2}]",
                        "operation 2 (test /a)"),
                Arguments.of(
                        "{'a':'\\u0000'}",
                        "[{'op':'remove','path':'/a'},{'op':'test','path':'','value':1}]",
                        "operation 2"),
                Arguments.of(
                        "{'a':'\\u0000'}",
                        "[{'op':'add','path':'/b','value':1}]",
                        "the result breaks a rule: payload has the" + " character U+0000"),
                Arguments.of("{'a':1,'a':2}", "[{'op':'add','path':'/b','value':1}]", "a name twice"));
    }

    @ParameterizedTest
    @MethodSource("misfits")
    void saysWhichOperationDoesNotFitAndQuotesNothingOfThePayload(String payload, String patch, String reason) {
        JsonPatch.Result result = apply(payload, patch);
        assertThat(result).isInstanceOf(JsonPatch.Result.Inapplicable.class);
        assertThat(((JsonPatch.Result.Inapplicable) result).reason())
                .contains(reason)
                .doesNotContain("qux");
    }

    static Stream<Arguments> invalid() {
        return Stream.of(
                Arguments.of("{", "it is not JSON"),
                Arguments.of("", "it is not JSON"),
                Arguments.of("[] []", "it is not JSON"),
                Arguments.of("{}", "it is no array"),
                Arguments.of("[]", "it has 0 operations, the range is 1 to 1000"),
                Arguments.of("[1]", "operation 1 is no object"),
                Arguments.of("[{'path':'/a'}]", "operation 1 has no op that is a string"),
                Arguments.of("[{'op':'spam','path':'/a'}]", "operation 1 has an op that is none of add, remove"),
                Arguments.of("[{'op':'remove'}]", "operation 1 has no path that is a string"),
                Arguments.of("[{'op':'remove','path':1}]", "operation 1 has no path that is a string"),
                Arguments.of(
                        "[{'op':'remove','path':'a'}]",
                        "operation 1 has a path that is no JSON Pointer: it does not begin"),
                Arguments.of("[{'op':'remove','path':'/a~2'}]", "neither ~0 (for ~) nor ~1 (for /)"),
                Arguments.of("[{'op':'remove','path':''}]", "operation 1 removes the whole payload"),
                Arguments.of("[{'op':'add','path':'/a'}]", "operation 1 (add /a) has no value"),
                Arguments.of("[{'op':'test','path':'/a'}]", "operation 1 (test /a) has no value"),
                Arguments.of("[{'op':'copy','path':'/a'}]", "operation 1 has no from that is a string"),
                Arguments.of("[{'op':'move','from':'/a','path':'/a/b'}]", "operation 1 moves /a into itself"),
                // A.13 of the standard.
                Arguments.of("[{'op':'add','path':'/baz','value':'qux','op':'remove'}]", "has a name twice"),
                Arguments.of(
                        "[" + "{'op':'remove','path':'/a'},".repeat(1000) + "{'op':'remove','path':'/a'}]",
                        "it has 1001 operations"));
    }

    @ParameterizedTest
    @MethodSource("invalid")
    void refusesAPatchThatIsNone(String patch, String problem) {
        assertThatThrownBy(() -> JsonPatch.parse(json(patch)))
                .hasMessageStartingWith("could not read the patch: ")
                .hasMessageContaining(problem)
                .extracting("code")
                .isEqualTo("patch.invalid");
    }

    @Test
    void keepsEveryDigitOfNumbersAndTheOrderOfNames() {
        String payload = json(
                "{'z':1,'n':12345678901234567890123456789,'d':0.10,'e':1E30,'i':1.0,'neg':-0.0,'a':{'y':1e-7,'b':2}}");
        assertThat(apply(payload, "[{'op':'add','path':'/last','value':1.500}]"))
                .isEqualTo(
                        new JsonPatch.Result.Applied(payload.substring(0, payload.length() - 1) + ",\"last\":1.500}"));
    }

    @Test
    void leavesAwkwardPayloadsAsTheyAreInValue() {
        for (String payload : List.of("unicode", "escapes", "order of names", "1 MB")) {
            String text = Messages.awkwardPayloads().get(payload);
            JsonPatch.Result result = JsonPatch.parse(
                            "[{\"op\":\"test\",\"path\":\"\",\"value\":" + text.strip() + "}]")
                    .apply(text);
            assertThat(result).as(payload).isInstanceOf(JsonPatch.Result.Applied.class);
            assertThat(JsonTree.equal(
                            JsonTree.read(((JsonPatch.Result.Applied) result).payload()), JsonTree.read(text)))
                    .as(payload)
                    .isTrue();
        }
    }

    @Test
    void comparesNumbersByValueAndObjectsWhateverTheirOrder() {
        assertThat(apply("{'a':{'x':1.0,'y':[2]}}", "[{'op':'test','path':'/a','value':{'y':[20e-1],'x':1}}]"))
                .isInstanceOf(JsonPatch.Result.Applied.class);
        assertThat(apply("{'a':1e999999999}", "[{'op':'test','path':'/a','value':1e99999999999}]"))
                .isInstanceOf(JsonPatch.Result.Inapplicable.class);
    }

    @Test
    void holdsTheResultToTheLimitsOfAPayload() {
        String big = "x".repeat(600_000);
        assertThat(apply("{'a':'" + big + "'}", "[{'op':'copy','from':'/a','path':'/b'}]"))
                .isEqualTo(new JsonPatch.Result.Inapplicable(
                        "the result breaks a rule: payload is 1200015 bytes, the limit is"
                                + " 1048576; store it elsewhere and publish a reference"));
    }

    @Test
    void endsCopiesOfCopiesBeforeTheyFillTheMemory() {
        String doubling = IntStream.range(0, 60)
                .mapToObj(n -> "{'op':'copy','from':'','path':'/c" + n + "'}")
                .collect(Collectors.joining(",", "[", "]"));
        JsonPatch.Result result = apply("{'a':1}", doubling);
        assertThat(result).isInstanceOf(JsonPatch.Result.Inapplicable.class);
        assertThat(((JsonPatch.Result.Inapplicable) result).reason()).contains("more than 1000000 values");
    }

    @Test
    void appliesTheSamePatchToManyPayloadsWithoutMixingThem() {
        JsonPatch patch =
                JsonPatch.parse(json("[{'op':'add','path':'/o','value':{}},{'op':'copy','from':'/n','path':'/o/n'}]"));
        assertThat(patch.apply("{\"n\":1}")).isEqualTo(new JsonPatch.Result.Applied("{\"n\":1,\"o\":{\"n\":1}}"));
        assertThat(patch.apply("{\"n\":2}")).isEqualTo(new JsonPatch.Result.Applied("{\"n\":2,\"o\":{\"n\":2}}"));
    }

    @Test
    void isEqualWhateverTheSpaces() {
        JsonPatch one = JsonPatch.parse("[{\"op\":\"remove\",\"path\":\"/a\"}]");
        assertThat(one).isEqualTo(JsonPatch.parse(" [ {\"op\" : \"remove\",\n\"path\":\"/a\"} ] "));
        assertThat(one).isNotEqualTo(JsonPatch.parse("[{\"op\":\"remove\",\"path\":\"/b\"}]"));
        assertThat(JsonPatch.parse(one.toString())).isEqualTo(one);
    }

    @Test
    void showsWhatChangesLineByLine() {
        PatchPreview preview = PatchPreview.of(
                7,
                json("{'a':1,'b':2,'c':3,'d':4,'e':5,'f':{'g':[1,2]},'h':8,'i':9,'j':10}"),
                JsonPatch.parse(json("[{'op':'replace','path':'/b','value':20},{'op':'remove','path':'/f/g/0'}]")));
        assertThat(preview.diff())
                .containsExactly(
                        "  {",
                        "    \"a\" : 1,",
                        "-   \"b\" : 2,",
                        "+   \"b\" : 20,",
                        "    \"c\" : 3,",
                        "    \"d\" : 4,",
                        "  …",
                        "    \"f\" : {",
                        "      \"g\" : [",
                        "-       1,",
                        "        2",
                        "      ]",
                        "  …");
        assertThat(preview.problem()).isNull();
    }

    @Test
    void showsAHugeChangeWithoutComparingEveryLineWithEveryOther() {
        String before = IntStream.range(0, 20_000).mapToObj(n -> "a" + n).collect(Collectors.joining("\n"));
        String after = IntStream.range(0, 20_000).mapToObj(n -> "b" + n).collect(Collectors.joining("\n"));
        assertThat(LineDiff.of(before, after)).hasSize(40_000);
        assertThat(LineDiff.of(before, before)).containsExactly("  …");
    }

    private static JsonPatch.Result apply(String payload, String patch) {
        return JsonPatch.parse(json(patch)).apply(json(payload));
    }

    private static String json(String text) {
        return text.replace('\'', '"');
    }
}
