package io.sluice.samples.compare;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.style.CategoryStyler;
import org.knowm.xchart.style.Styler.ChartTheme;
import org.knowm.xchart.style.Styler.LegendPosition;

/** Charts as PNG files. No display is needed, but fonts are. */
final class ChartImages {

    private static final int WIDTH = 1200;
    private static final int HEIGHT = 600;
    private static final int GROUP_WIDTH = 40;
    private static final int LABEL_ROTATION = 60;

    /** Told apart by people who see few colours, too: those of Okabe and Ito, "Color Universal Design", and two grays. */
    private static final Color[] COLORS = {
        new Color(0x0072B2),
        new Color(0xE69F00),
        new Color(0x009E73),
        new Color(0xD55E00),
        new Color(0x56B4E9),
        new Color(0xCC79A7),
        new Color(0x333333),
        new Color(0x999999)
    };

    private ChartImages() {}

    /**
     * Draws them into a folder, each into a file of its name.
     *
     * @return the files
     */
    static List<Path> write(List<Chart> charts, Path folder) throws IOException {
        // Java's drawing must not look for a display where there may be a broken one.
        System.setProperty("java.awt.headless", "true");
        List<Path> files = new ArrayList<>();
        for (Chart chart : charts) {
            Path file = folder.resolve(chart.name() + ".png");
            BitmapEncoder.saveBitmap(drawn(chart), file.toString(), BitmapFormat.PNG);
            files.add(file);
        }
        return files;
    }

    private static CategoryChart drawn(Chart chart) {
        CategoryChart drawn = new CategoryChartBuilder()
                .width(Math.max(WIDTH, GROUP_WIDTH * chart.groups().size()))
                .height(HEIGHT)
                .title(chart.title())
                .yAxisTitle(chart.unit())
                .theme(ChartTheme.GGPlot2)
                .build();
        CategoryStyler styler = drawn.getStyler();
        styler.setXAxisLabelRotation(LABEL_ROTATION);
        styler.setYAxisDecimalPattern("#,##0.##");
        styler.setLegendPosition(LegendPosition.OutsideE);
        styler.setSeriesColors(COLORS);
        styler.setLegendVisible(chart.series().size() > 1);
        for (Chart.Bars bars : chart.series()) {
            drawn.addSeries(bars.name(), chart.groups(), numbers(bars.values()));
        }
        return drawn;
    }

    /** What is not there has a bar of no height. */
    private static List<Double> numbers(List<@Nullable Double> values) {
        List<Double> numbers = new ArrayList<>();
        values.forEach(value -> numbers.add(value == null ? 0.0 : value));
        return numbers;
    }
}
