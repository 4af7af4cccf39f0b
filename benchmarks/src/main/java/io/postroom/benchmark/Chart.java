package io.postroom.benchmark;

import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** A bar chart as SVG, readable on light and dark pages. */
final class Chart implements Serializable {
    private static final long serialVersionUID = 1L;

    private static final int LABEL_WIDTH = 500;
    private static final int BAR_WIDTH = 360;
    private static final int ROW = 26;

    private final String title;
    private final LinkedHashMap<String, Double> bars = new LinkedHashMap<>();

    Chart(String title) {
        this.title = title;
    }

    void bar(String label, double value) {
        bars.put(label, value);
    }

    boolean isWorthwhile() {
        return bars.size() > 1;
    }

    String file() {
        return title.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("-+$", "") + ".svg";
    }

    String svg() {
        double most =
                bars.values().stream().mapToDouble(Double::doubleValue).max().orElse(1);
        int height = 40 + bars.size() * ROW;
        int width = LABEL_WIDTH + BAR_WIDTH + 110;
        StringBuilder svg = new StringBuilder();
        svg.append(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\""
                        + " font-size=\"13\">%n<style>text{fill:#57606a}.b{fill:#2f81f7}@media(prefers-color-scheme:dark){text{fill:#c9d1d9}}"
                        + "</style>%n<text x=\"0\" y=\"18\" font-weight=\"bold\">%s</text>%n",
                width,
                height,
                width,
                height,
                escape(title)));
        int y = 34;
        for (Map.Entry<String, Double> bar : bars.entrySet()) {
            double length = Math.max(1, bar.getValue() / most * BAR_WIDTH);
            svg.append(String.format(
                    Locale.ROOT,
                    "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text><rect class=\"b\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"16\""
                            + " rx=\"2\"/><text x=\"%.1f\" y=\"%d\">%s</text>%n",
                    LABEL_WIDTH - 8,
                    y + 13,
                    escape(bar.getKey()),
                    LABEL_WIDTH,
                    y,
                    length,
                    LABEL_WIDTH + length + 6,
                    y + 13,
                    Report.number(bar.getValue())));
            y += ROW;
        }
        return svg.append("</svg>\n").toString();
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;");
    }
}
