package services

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine/service/pricing"
)

// ReadPrices returns the prices of models: the built-in table, with the user's table on top. Both have the format of LiteLLM's
// model_prices_and_context_window.json.
func ReadPrices(data string) (pricing.Prices, error) {
	prices, err := pricing.ReadPrices(assets.Prices())
	if err != nil {
		return nil, fmt.Errorf("the built-in prices: %w", err)
	}
	path := filepath.Join(data, config.PricesName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return prices, nil
	}
	var own pricing.Prices
	if err == nil {
		own, err = pricing.ReadPrices(text)
	}
	if err != nil {
		return nil, fmt.Errorf("the prices in %s: %w; correct or remove the file", path, err)
	}
	maps.Copy(prices, own)
	return prices, nil
}
