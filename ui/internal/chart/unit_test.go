package chart

import (
	"math"
	"testing"
)

func TestValuesAreShort(t *testing.T) {
	tests := []struct {
		unit Unit
		v    float64
		want string
	}{
		{Count, 0, "0"},
		{Count, 3, "3"},
		{Count, 3.44, "3.4"},
		{Count, 372, "372"},
		{Count, 999.4, "999"},
		{Count, 999.6, "1 k"},
		{Count, 1234, "1.2 k"},
		{Count, 45678, "46 k"},
		{Count, 2.5e6, "2.5 M"},
		{Count, -0.001, "0"},
		{Count, math.NaN(), "–"},
		{Count, math.Inf(1), "–"},
		{PerSecond, 0, "0/s"},
		{PerSecond, 0.254, "0.25/s"},
		{PerSecond, 12.3, "12/s"},
		{PerSecond, 1260, "1,260/s"},
		{Percent, 0, "0%"},
		{Percent, 3.42, "3.4%"},
		{Percent, 9.96, "10%"},
		{Percent, 43.4, "43%"},
		{Percent, 100, "100%"},
		{Bytes, 0, "0 B"},
		{Bytes, 512, "512 B"},
		{Bytes, 128_400_000, "128 MB"},
		{Bytes, 999_700_000, "1.0 GB"},
		{Bytes, 1_240_000_000, "1.2 GB"},
		{Bytes, 12_300_000_000, "12.3 GB"},
		{Duration, 0, "0 s"},
		{Duration, 0.000_052, "52 µs"},
		{Duration, 0.0032, "3.2 ms"},
		{Duration, 0.85, "850 ms"},
		{Duration, 0.9999, "1.0 s"},
		{Duration, 1.23, "1.2 s"},
		{Duration, 90, "1 min 30 s"},
		{Duration, 119.8, "2 min"},
		{Duration, 150, "2 min 30 s"},
		{Duration, 3 * 3600, "3 h"},
		{Duration, 3 * day, "3 days"},
	}
	for _, tt := range tests {
		if got := string(tt.unit.appendValue(nil, tt.v)); got != tt.want {
			t.Errorf("unit %d: %v is written %q, want %q", tt.unit, tt.v, got, tt.want)
		}
	}
}

func TestTicksAreExact(t *testing.T) {
	tests := []struct {
		unit Unit
		v    float64
		want string
	}{
		{Percent, 0, "0"},
		{Percent, 75, "75%"},
		{Bytes, 3 * 0.1e9, "300 MB"},
		{Bytes, 1.5e9, "1.5 GB"},
		{Duration, 0.1 + 0.2, "300 ms"},
		{Duration, 12.25, "12.25 s"},
		{Duration, 600, "10 min"},
		{PerSecond, 500, "500/s"},
		{Count, 20000, "20 k"},
	}
	for _, tt := range tests {
		if got := string(tt.unit.appendTick(nil, tt.v)); got != tt.want {
			t.Errorf("unit %d: %v is written %q, want %q", tt.unit, tt.v, got, tt.want)
		}
	}
}

func TestStepsAreRound(t *testing.T) {
	tests := []struct {
		unit      Unit
		raw, want float64
	}{
		{Count, 0.2, 1},
		{Count, 1.1, 2},
		{Count, 20, 20},
		{Count, 20.1, 50},
		{Count, 51, 100},
		{PerSecond, 0.03, 0.05},
		{Percent, 0.3, 0.5},
		{Percent, 12, 25},
		{Percent, 150, 200},
		{Bytes, 3e8, 5e8},
		{Duration, 0.0012, 0.002},
		{Duration, 0.6, 1},
		{Duration, 11, 20},
		{Duration, 21, 30},
		{Duration, 61, 120},
		{Duration, 601, 1200},
		{Duration, 2 * day, 200_000},
	}
	for _, tt := range tests {
		if got := tt.unit.step(tt.raw); math.Abs(got-tt.want) > 1e-12*tt.want {
			t.Errorf("unit %d: the step from %v is %v, want %v", tt.unit, tt.raw, got, tt.want)
		}
	}
}
